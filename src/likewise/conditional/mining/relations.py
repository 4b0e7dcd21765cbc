"""Phrases of a caption to its relations (subject, relation, object), in one pass and without backtracking.

A clause is about its `base`: what stands before its verb, or the thing shown where a caption has none.  A preposition
joins its noun phrase to the verb that is open ("sits on"), to the noun just read ("of"), or to the base.
"""

from collections.abc import Sequence
from typing import NamedTuple

from likewise.conditional.mining.lexicon import BE, CLAUSE_OPENERS, DEPICTIONS
from likewise.conditional.mining.phrases import (
    AND,
    COLON,
    COMMA,
    NOUN,
    PREPOSITION,
    PRONOUN,
    STOP,
    VERB,
    WHICH,
    Phrase,
    split_phrases,
)
from likewise.conditional.mining.tagging import TaggedWord


class Relation(NamedTuple):
    """Words as written, lower-case; subject and object are head nouns."""

    subject: str
    relation: str
    object: str


def extract_relations(words: Sequence[TaggedWord]) -> list[Relation]:
    """The relations of one tagged caption, each once, in the order read."""
    return _RelationParser(split_phrases(words)).run()


def extract_attributes(words: Sequence[TaggedWord]) -> list[Relation]:
    """What noun phrases say before their heads, "a red wool coat": each once, with an empty relation."""
    described = (phrase for phrase in split_phrases(words) if phrase.kind == NOUN)
    found = (Relation(phrase.text, "", modifier) for phrase in described for modifier in phrase.modifiers)
    return list(dict.fromkeys(found))


class _RelationParser:
    """What is open while a caption is read from left to right."""

    def __init__(self, phrases: list[Phrase]) -> None:
        self.phrases = phrases
        self.found: dict[Relation, None] = {}
        self._restart()

    def _restart(self) -> None:
        self.base: list[str] = []
        self.outer: list[str] | None = None  # the base around a relative clause
        self.last: list[str] = []
        self.verb = ""
        self.has_object = False
        self.preposition = ""
        self.link: tuple[list[str], str] | None = None
        self.joined = False  # an "and", or a comma of a list, waits for its noun

    def run(self) -> list[Relation]:
        for at, (kind, text, finite, _) in enumerate(self.phrases):
            if kind == NOUN:
                self._noun(at, text)
            elif kind == VERB:
                self._verb(at, text, finite)
            elif kind == PREPOSITION:
                self.preposition = f"{self.preposition} {text}" if self.preposition else text
                self.joined = False
            elif kind == PRONOUN:
                self._pronoun()
            elif kind == AND:
                self.joined, self.preposition = True, ""
            elif kind == COMMA:
                self._comma(at)
            elif kind == WHICH:
                self.outer, self.base, self.verb, self.link = self.base, list(self.last), "", None
            elif kind == COLON and self.verb and not self.has_object:
                self.preposition = ""
            elif kind in (COLON, STOP):
                self._restart()
        return list(self.found)

    def _emit(self, subjects: Sequence[str], relation: str, thing: str) -> None:
        for subject in subjects:
            if subject != thing or relation not in BE:
                self.found.setdefault(Relation(subject, relation, thing))
        self.link = (list(subjects), relation)

    def _noun(self, at: int, head: str) -> None:
        if self.preposition and self._opens_clause(at):
            self._clause(head)
        elif self.preposition:
            self._after_preposition(head)
        elif self.verb and not self.has_object:
            self._emit(self.base, self.verb, head)
            if self.phrases[at - 1].kind == COLON:
                self.base, self.verb = [head], ""
            self.has_object, self.last = True, [head]
        elif self.joined and self.link is None and self.base:
            self.base.append(head)
            self.last = list(self.base)
        elif self.joined and self.link is not None and not self._before_verb(at):
            self._emit(*self.link, head)
            self.last.append(head)
        elif self.base and self.phrases[at - 1].kind == COMMA and not self._before_verb(at):
            self.last, self.verb, self.link = [head], "", None  # "a red top, white details, for winter"
        else:
            self._clause(head)
        self.preposition, self.joined = "", False

    def _clause(self, head: str) -> None:
        self._restart()
        self.base, self.last = [head], [head]

    def _after_preposition(self, head: str) -> None:
        word = self.preposition
        if self.verb and not self.has_object and self.link is None:
            self._emit(self.base, f"{self.verb} {word}", head)
        elif word == "of":
            shown = self.last == self.base and bool(DEPICTIONS & set(self.last))
            self._emit(self.last, word, head)
            if shown:
                self.base = [head]
        elif self.verb and not self.has_object:
            self._emit(self.base, f"{self.verb} {word}", head)
        else:
            self._emit(self.base or self.last, word, head)
        self.last = [head]

    def _verb(self, at: int, verb: str, finite: bool) -> None:
        infinitive = at > 0 and self.phrases[at - 1].text == "to"
        gerund = bool(self.preposition) and not infinitive
        if finite and self.outer is not None and self.verb and not self.joined:
            self.base, self.outer = self.outer, None
        if gerund:
            self.base = []
        self.verb, self.has_object, self.preposition, self.link, self.joined = verb, False, "", None, False

    def _pronoun(self) -> None:
        """Nothing is known about pronouns, but they take the place of a noun."""
        if self.preposition or (self.verb and not self.has_object):
            self.preposition, self.has_object = "", True
        else:
            self._restart()

    def _comma(self, at: int) -> None:
        self.preposition = ""
        follows = self.phrases[at + 1].kind if at + 1 < len(self.phrases) else STOP
        if follows == NOUN and self._in_list(at + 1):
            self.joined = True
        elif follows == PREPOSITION:
            self.verb, self.link = "", None

    def _in_list(self, at: int) -> bool:
        """Whether nouns and commas from here lead to an "and"."""
        while at < len(self.phrases) and self.phrases[at].kind in (NOUN, COMMA):
            at += 1
        return at < len(self.phrases) and self.phrases[at].kind == AND

    def _before_verb(self, at: int) -> bool:
        return at + 1 < len(self.phrases) and self.phrases[at + 1].kind == VERB

    def _opens_clause(self, at: int) -> bool:
        """ "as the sun sets": the noun starts a clause of its own."""
        return self.preposition in CLAUSE_OPENERS and self._before_verb(at) and self.phrases[at + 1].finite
