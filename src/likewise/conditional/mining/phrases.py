"""Tagged words to the phrases that relations are read from: noun phrases, verbs, prepositions, breaks."""

from collections.abc import Sequence
from typing import NamedTuple

from likewise.conditional.mining.lexicon import (
    AUXILIARIES,
    BE,
    DEPICTIONS,
    LONG_PREPOSITIONS,
    PREPOSITIONS,
    PRONOUNS,
    QUANTITIES,
    SHADES,
    TIMES,
    UNDESCRIBING,
    VERBS,
)
from likewise.conditional.mining.tagging import TaggedWord

NOUN, VERB, PREPOSITION, AND, COMMA, COLON, STOP, WHICH, PRONOUN, OTHER = "NVPC,:.WXO"

_NOUNS = frozenset(("NN", "NNS", "NNP", "NNPS"))
_DETERMINERS = frozenset(("DT", "PRP$", "PDT", "POS", "WP$"))
_ADJECTIVES = frozenset(("JJ", "JJR", "JJS", "CD"))
_PARTICIPLES = frozenset(("VBG", "VBN", "VBD"))
_AFTER_VERBS = frozenset(("IN", "TO", "RB", "RP", "DT", "PRP$", "JJ", "NNS", "CC", ""))
_DESCRIBING = _NOUNS | _PARTICIPLES | {"JJ"}
_OPENERS = _NOUNS | _DETERMINERS | _ADJECTIVES | _PARTICIPLES
"""Tags that a noun phrase can start with."""
_LONG = {each[0]: [other for other in LONG_PREPOSITIONS if other[0] == each[0]] for each in LONG_PREPOSITIONS}


class Phrase(NamedTuple):
    """`text` is a head noun, a verb, or a preposition; `finite` marks verbs that need a subject of their own."""

    kind: str
    text: str
    finite: bool = False
    modifiers: tuple[str, ...] = ()
    """What a noun phrase says before its head: "red", "dark blue", "leather"."""


def split_phrases(words: Sequence[TaggedWord]) -> list[Phrase]:
    """The phrases of one caption, in order."""
    words = _corrected(words)
    found: list[Phrase] = []
    at, n = 0, len(words)
    while at < n:
        word, tag = words[at]
        end = _noun_phrase(words, at) if tag in _OPENERS else at
        if end > at:
            head = words[end - 1][0]
            if head in QUANTITIES and end < n and words[end][0] == "of" and _noun_phrase(words, end + 1) > end + 1:
                at = end + 1
                continue
            kind = PRONOUN if head in PRONOUNS else NOUN
            found.append(Phrase(kind, head, modifiers=describing_words(words[at : end - 1]) if kind == NOUN else ()))
            at = end
            continue
        at += 1
        if tag[0] == "V" or tag == "MD":
            verb, at = _verb_group(words, at - 1)
            if verb:
                found.append(verb)
        elif tag in ("IN", "TO", "RP"):
            found.append(Phrase(WHICH if word in ("that", "whether") else PREPOSITION, word))
        elif word in ("some", "one", "many", "all", "both") and at < n and words[at][0] == "of":
            at += 1
        elif tag == "CC":
            found.append(Phrase(AND if word in ("and", "or", "&") else OTHER, word))
        elif tag in ("WDT", "WP", "WRB"):
            found.append(Phrase(WHICH, word))
        elif tag in ("PRP", "EX", "DT"):
            found.append(Phrase(PRONOUN, word))
        elif word in (",", "(", ")"):
            found.append(Phrase(COMMA, word))
        elif tag in (":", ".") or not word[0].isalnum():
            found.append(Phrase(COLON if word == ":" else STOP, word))
    return found


def named_words(words: Sequence[TaggedWord]) -> list[str]:
    """The things a caption names and the words that describe them."""
    nouns = [phrase for phrase in split_phrases(words) if phrase.kind == NOUN]
    return [word for phrase in nouns for word in (phrase.text, *phrase.modifiers) if len(word) > 2]


def main_noun(words: Sequence[TaggedWord]) -> str:
    """The first thing a caption names, or what the depiction that it names shows; empty where there is none."""
    nouns = [phrase.text for phrase in split_phrases(words) if phrase.kind == NOUN]
    return next((noun for noun in nouns if noun not in DEPICTIONS), nouns[0] if nouns else "")


def _corrected(words: Sequence[TaggedWord]) -> list[TaggedWord]:
    """Long prepositions as one word, hyphens glued, and tags mended that context shows to be wrong."""
    tidy: list[TaggedWord] = []
    at, n = 0, len(words)
    while at < n:
        word, tag = words[at]
        if word in TIMES:
            if tidy and tidy[-1][0] in ("on", "last", "this"):
                tidy.pop()
            at += 1
            continue
        for long in _LONG.get(word, ()):
            if tuple(each for each, _ in words[at : at + len(long)]) == long:
                tidy.append((" ".join(long), "IN"))
                at += len(long)
                break
        else:
            if word == "-" and tidy and at + 1 < n and _hyphen(words, at):
                at += 1
                if words[at][0] == "up" and tidy[-1][0] == "close":
                    tidy[-1] = ("close-up", "NN")
                    at += 1
                continue
            after = words[at + 1] if at + 1 < n else ("", "")
            tidy.append((word, _correct_tag(word, tag, tidy[-1] if tidy else ("", ""), after)))
            at += 1
    return tidy


def _hyphen(words: Sequence[TaggedWord], at: int) -> bool:
    """Whether the dash at this place joins two words rather than two sentences."""
    before, (word, tag) = words[at - 1][0], words[at + 1]
    if len(before) == 1 or word == "up" or tag in ("VBN", "JJ", "VBG"):
        return before.isalnum()
    return at + 2 < len(words) and words[at + 2][1] in _NOUNS and tag in _NOUNS and before.isalnum()


def _correct_tag(word: str, tag: str, before: TaggedWord, after: TaggedWord) -> str:
    """The tag a word has in this place."""
    if word in ("'s", "’s"):
        return "VBZ" if before[1] in ("PRP", "EX", "RB") else "POS"
    opens = after[1] in _DETERMINERS or after[1] in _NOUNS or after[1] in _ADJECTIVES
    if word in PREPOSITIONS and tag not in ("IN", "TO") and opens and before[1] not in _DETERMINERS:
        return "IN"
    if tag[0] == "V" or tag == "RB":
        named = before[1] in ("DT", "PRP$", "POS") or (before[1] in ("JJ", "JJS") and tag == "VB")
        if (
            named
            and word not in AUXILIARIES
            and (after[1] in ("IN", "", ".", ",", ":", "CC", "TO") or after[0] == "of")
        ):
            return "NN"
    disagree = tag in ("NN", "NNS") and before[1] in _NOUNS and before[1][-1] != tag[-1]
    if disagree and (after[1] in ("DT", "PRP$") or (tag == "NN" and after[1] in ("RB", "TO"))):
        return "VBP"  # "homes line a street", "person places the flowers"
    if tag == "NNS" and word in VERBS and before[1] in ("NN", "NNP", "CC") and after[1] in _AFTER_VERBS:
        return "VBZ"
    return tag


def _noun_phrase(words: Sequence[TaggedWord], start: int) -> int:
    """Where the noun phrase that starts here ends; `start` itself when none does."""
    end, n, last_noun = start, len(words), start
    while end < n:
        tag = words[end][1]
        if tag in _NOUNS:
            last_noun = end + 1
        elif tag in _DETERMINERS:
            if last_noun > start and tag != "POS":
                break
        elif tag == "RB":
            if end == start or last_noun > start:
                break
        elif tag not in _ADJECTIVES and not (tag in _PARTICIPLES and _modifies(words, end, start)):
            break
        end += 1
    return last_noun


def _modifies(words: Sequence[TaggedWord], at: int, start: int) -> bool:
    """Whether the participle at this place describes the noun behind it: "a baking tray", "snow covered mountains"."""
    tag = words[at][1]
    after = words[at + 1][1] if at + 1 < len(words) else ""
    if after not in _NOUNS and after not in _ADJECTIVES:
        return False
    before = words[at - 1][1] if at else ""
    if before in ("DT", "PRP$", "POS", "JJ", "IN", "CC", ",", "") and words[at][0] not in AUXILIARIES:
        return before not in ("CC", ",", "") or tag == "VBN"
    return tag == "VBN" and before in ("NN", "VBN") and at > start and after in _NOUNS


def describing_words(words: Sequence[TaggedWord]) -> tuple[str, ...]:
    """The describing words before a head; a shade belongs to its colour, "dark blue"."""
    found: list[str] = []
    shade = ""
    for word, tag in words:
        if (tag not in _DESCRIBING and word not in SHADES) or word in UNDESCRIBING or not word[0].isalpha():
            shade = ""
        elif word in SHADES and not shade:
            shade = word
        else:
            found.append(f"{shade} {word}".strip())
            shade = ""
    return tuple(dict.fromkeys(found))


def _verb_group(words: Sequence[TaggedWord], start: int) -> tuple[Phrase | None, int]:
    """The verb that starts here without its auxiliaries and adverbs, and where to read on."""
    at, n = start, len(words)
    verb, tag = words[at]
    finite = tag in ("VBZ", "VBP", "VBD", "MD")
    at += 1
    while at < n and (verb in AUXILIARIES or words[start][1] == "MD"):
        ahead = at
        while ahead < n and words[ahead][1] == "RB":
            ahead += 1
        if ahead < n and words[ahead][1][0] == "V" and not _starts_noun(words, ahead, verb):
            verb, tag = words[ahead]
            at = ahead + 1
            if verb not in AUXILIARIES:
                break
        else:
            break
    while at < n and words[at][1] == "RB" and words[at][0].endswith("ly"):
        at += 1
    if tag == "MD":
        return None, at
    return Phrase(VERB, verb, finite), at


def _starts_noun(words: Sequence[TaggedWord], at: int, auxiliary: str) -> bool:
    """ "has painted walls" and the like: rare enough to leave, except a bare have before a participle and a noun."""
    return auxiliary not in BE and auxiliary in ("having", "has", "have") and words[at][1] == "VBG"
