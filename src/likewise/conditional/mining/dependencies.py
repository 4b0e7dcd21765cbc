"""Relations of a caption from spaCy's dependency tree (labels of its English models), in the form the grammar gives.

A verb takes its subject and object from the tree ("wearing" of "a woman in the snow wearing a hat" belongs to the
woman), a preposition what it hangs on; what stands in a list counts as each of its members.
"""

from collections.abc import Iterator
from typing import Any

from likewise.conditional.mining.lexicon import BE, LONG_PREPOSITIONS, PRONOUNS, QUANTITIES
from likewise.conditional.mining.phrases import describing_words
from likewise.conditional.mining.relations import Relation

_NOUN_TAGS = ("NN", "NNS", "NNP", "NNPS")
_SUBJECTS, _OBJECTS = ("nsubj", "nsubjpass"), ("dobj", "attr")
_SHARES_SUBJECT = ("conj", "advcl", "xcomp")
"""How a verb without a subject of its own hangs on the verb whose subject it shares."""


def read_dependencies(document: Any) -> list[Relation]:
    """The relations and attributes (an empty relation) of one parsed caption, each once, in the order read."""
    found: dict[Relation, None] = {}
    for token in document:
        if token.tag_ in _NOUN_TAGS:
            relations = [*_around_noun(token), *_attributes(token)]
        elif token.tag_[:1] == "V" and token.dep_ not in ("aux", "auxpass", "amod"):
            relations = list(_around_verb(token))
        else:
            continue
        for relation in relations:
            if relation.subject != relation.object or relation.relation not in BE:
                found.setdefault(relation)
    return list(found)


def _around_noun(token: Any) -> Iterator[Relation]:
    if _counted(token) is not token or _in_long_preposition(token):
        return
    for preposition, things in _prepositions(token):
        yield from _all_of([token, *_listed_with(token)], preposition, things)


def _attributes(token: Any) -> Iterator[Relation]:
    before = [(each.lower_, each.tag_) for each in token.subtree if _describes(each, token)]
    for modifier in describing_words(before):
        yield Relation(token.lower_, "", modifier)


def _describes(word: Any, noun: Any) -> bool:
    """Left of its noun, and linked to it by modifiers alone ("dark" of "blue" of "dress")."""
    if word.i >= noun.i:
        return False
    while word.i != noun.i:
        if word.dep_ not in ("amod", "compound", "nmod", "advmod", "conj"):
            return False
        word = word.head
    return True


def _around_verb(token: Any) -> Iterator[Relation]:
    subjects = _subjects(token)
    objects = [each for child in token.children if child.dep_ in _OBJECTS for each in _things(child)]
    particle = " ".join(child.lower_ for child in token.children if child.dep_ == "prt")
    verb = f"{token.lower_} {particle}".strip()
    yield from _all_of(subjects, verb, objects)
    for preposition, things in _prepositions(token):
        yield from _all_of(subjects, preposition if objects else f"{verb} {preposition}", things)
    for child in token.children:
        if child.dep_ == "acomp" and child.tag_[:1] == "J":
            yield from (Relation(subject.lower_, "", child.lower_) for subject in subjects)


def _subjects(verb: Any) -> list[Any]:
    own = [child for child in verb.children if child.dep_ in _SUBJECTS]
    relative = verb.dep_ in ("relcl", "acl")
    if own and not (relative and own[0].tag_ in ("WDT", "WP", "WRB")):
        return [each for subject in own for each in _things(subject)]
    if relative:
        return _things(verb.head)
    shares = verb.dep_ in _SHARES_SUBJECT and verb.head.i != verb.i and verb.head.tag_[:1] == "V"
    return _subjects(verb.head) if shares else []


def _prepositions(token: Any) -> Iterator[tuple[str, list[Any]]]:
    """The prepositions that hang on a word, long ones as one, with the things behind them."""
    for child in token.children:
        if child.dep_ in ("prep", "agent"):
            yield from _behind(child, (child.lower_,))


def _in_long_preposition(noun: Any) -> bool:
    """ "front" of "in front of" is no thing."""
    return noun.dep_ == "pobj" and _begins_long((noun.head.lower_, *(word.lower_ for word in noun.lefts), noun.lower_))


def _begins_long(words: tuple[str, ...]) -> bool:
    return any(each[: len(words)] == words for each in LONG_PREPOSITIONS)


def _behind(preposition: Any, said: tuple[str, ...]) -> Iterator[tuple[str, list[Any]]]:
    for child in preposition.children:
        further = (*said, *(word.lower_ for word in child.lefts), child.lower_)
        if _begins_long(further):  # "in front" of what?
            inner = [child] if child.dep_ in ("prep", "pcomp") else [c for c in child.children if c.dep_ == "prep"]
            for each in inner:
                yield from _behind(each, further if each is child else (*further, each.lower_))
        elif child.dep_ == "pobj":
            yield " ".join(said), _things(child)


def _things(noun: Any) -> list[Any]:
    """A noun and what is listed with it, without pronouns; of "a group of people" the people."""
    found = [_counted(each) for each in (noun, *_listed_with(noun))]
    return [each for each in found if each.tag_ in _NOUN_TAGS and each.lower_ not in PRONOUNS]


def _listed_with(noun: Any) -> list[Any]:
    listed = [child for child in noun.children if child.dep_ == "conj" and child.tag_ in _NOUN_TAGS]
    return [each for child in listed for each in (child, *_listed_with(child))]


def _counted(noun: Any) -> Any:
    if noun.lower_ in QUANTITIES:
        for child in noun.children:
            if child.dep_ == "prep" and child.lower_ == "of":
                for inner in child.children:
                    if inner.dep_ == "pobj":
                        return inner
    return noun


def _all_of(subjects: list[Any], relation: str, objects: list[Any]) -> Iterator[Relation]:
    for thing in objects:
        for subject in subjects:
            if subject.lower_ not in PRONOUNS:
                yield Relation(subject.lower_, relation, thing.lower_)
