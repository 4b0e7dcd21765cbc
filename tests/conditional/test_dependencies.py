"""Relations from spaCy's trees: captions parsed by hand with its labels, and a model that learned two of them."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest
import spacy
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import fix_random_seed
from typer.testing import CliRunner

from likewise.cli.app import app
from likewise.conditional.mining.dependencies import read_dependencies
from likewise.conditional.mining.parsers import get_parser
from likewise.errors import LikewiseError

TREES = {
    # word/tag/label/place of its head
    "a young man riding a horse on the beach": (
        "a/DT/det/2 young/JJ/amod/2 man/NN/ROOT/2 riding/VBG/acl/2 a/DT/det/5 horse/NN/dobj/3 on/IN/prep/3 "
        "the/DT/det/8 beach/NN/pobj/6",
        "man | young; man riding horse; man on beach",
    ),
    "portrait of a woman in snow wearing a red wool hat and gloves": (
        "portrait/NN/ROOT/0 of/IN/prep/0 a/DT/det/3 woman/NN/pobj/1 in/IN/prep/3 snow/NN/pobj/4 wearing/VBG/acl/3 "
        "a/DT/det/10 red/JJ/amod/10 wool/NN/compound/10 hat/NN/dobj/6 and/CC/cc/10 gloves/NNS/conj/10",
        "portrait of woman; woman in snow; woman wearing hat; woman wearing gloves; hat | red; hat | wool",
    ),
    "a group of people sitting on a bench": (
        "a/DT/det/1 group/NN/ROOT/1 of/IN/prep/1 people/NNS/pobj/2 sitting/VBG/acl/1 on/IN/prep/4 a/DT/det/7 "
        "bench/NN/pobj/5",
        "people sitting on bench",
    ),
    "cat and dog in front of the house": (
        "cat/NN/ROOT/0 and/CC/cc/0 dog/NN/conj/0 in/IN/prep/0 front/NN/pobj/3 of/IN/prep/4 the/DT/det/7 "
        "house/NN/pobj/5",
        "cat in front of house; dog in front of house",
    ),
    "the tree that stands on the corner was donated by the family": (
        "the/DT/det/1 tree/NN/nsubjpass/8 that/WDT/nsubj/3 stands/VBZ/relcl/1 on/IN/prep/3 the/DT/det/6 "
        "corner/NN/pobj/4 was/VBD/auxpass/8 donated/VBN/ROOT/8 by/IN/agent/8 the/DT/det/11 family/NN/pobj/9",
        "tree stands on corner; tree donated by family",
    ),
    "she wears a dark blue dress and the shoes are red": (
        "she/PRP/nsubj/1 wears/VBZ/ROOT/1 a/DT/det/5 dark/JJ/amod/4 blue/JJ/amod/5 dress/NN/dobj/1 and/CC/cc/1 "
        "the/DT/det/8 shoes/NNS/nsubj/9 are/VBP/conj/1 red/JJ/acomp/9",
        "dress | dark blue; shoes | red",
    ),
    "a dog runs and jumps next to the lake": (
        "a/DT/det/1 dog/NN/nsubj/2 runs/VBZ/ROOT/2 and/CC/cc/2 jumps/VBZ/conj/2 next/RB/advmod/4 to/IN/prep/4 "
        "the/DT/det/8 lake/NN/pobj/6",
        "dog jumps to lake",
    ),
}


LEARNED = ("a young man riding a horse on the beach", "cat and dog in front of the house")


def tree_of(caption: str) -> dict[str, Any]:
    words, tags, labels, heads = zip(*(part.split("/") for part in TREES[caption][0].split()), strict=True)
    assert " ".join(words) == caption
    return {"words": [*words], "tags": [*tags], "deps": [*labels], "heads": [int(head) for head in heads]}


def as_text(relations: list[Any]) -> list[str]:
    return [f"{subject} {relation or '|'} {thing}" for subject, relation, thing in relations]


@pytest.mark.parametrize("caption", TREES)
def test_a_tree_to_relations(caption: str) -> None:
    document = Doc(spacy.blank("en").vocab, **tree_of(caption))
    assert sorted(as_text(read_dependencies(document))) == sorted(TREES[caption][1].split("; "))


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small model in spaCy's own format that has learned these captions by heart."""
    fix_random_seed(0)
    pipeline = spacy.blank("en")
    vectors = {"width": 32, "depth": 1, "embed_size": 300, "window_size": 1}
    embed = {"@architectures": "spacy.HashEmbedCNN.v2", "pretrained_vectors": None, "maxout_pieces": 2}
    embed |= {"subword_features": True, **vectors}
    pipeline.add_pipe("tagger", config={"model": {"@architectures": "spacy.Tagger.v2", "tok2vec": embed}})
    parser = {"@architectures": "spacy.TransitionBasedParser.v2", "state_type": "parser", "extra_state_tokens": False}
    parser |= {"hidden_width": 32, "maxout_pieces": 2, "use_upper": True, "tok2vec": embed}
    pipeline.add_pipe("parser", config={"model": parser, "min_action_freq": 1})
    examples = [Example.from_dict(pipeline.make_doc(caption), tree_of(caption)) for caption in LEARNED]
    optimizer = pipeline.initialize(lambda: examples)
    for _ in range(100):
        pipeline.update(examples, sgd=optimizer, drop=0.0)
    folder = tmp_path_factory.mktemp("model") / "en_captions"
    pipeline.to_disk(folder)
    return folder


def test_from_a_model_on_disk_to_triplets(model: Path, tmp_path: Path) -> None:
    parse = get_parser(str(model))
    assert [sorted(as_text(each)) for each in parse(LEARNED)] == [
        sorted(TREES[each][1].split("; ")) for each in LEARNED
    ]
    captions = tmp_path / "captions.tsv"
    captions.write_text("".join(f"{text}\tpicture{at}.jpg\n" for at, text in enumerate(LEARNED * 4)))
    output = tmp_path / "mined"
    words = ["condition", "mine", str(captions), "--output", str(output), "--parser", str(model), "--min-images", "1"]
    ran = CliRunner().invoke(app, [*words, "--min-objects", "1", "--workers", "1"])
    assert ran.exit_code == 0, ran.output
    relations = pl.read_parquet(output / "relations" / "part-00000.parquet")
    assert relations.filter(row=0).drop("row").rows() == parse(LEARNED)[0]


def test_a_model_without_a_tree_is_refused_with_a_way_out(tmp_path: Path) -> None:
    spacy.blank("en").to_disk(tmp_path / "blank")
    with pytest.raises(LikewiseError, match=r"has no tagger.*--parser textblob"):
        get_parser(str(tmp_path / "blank"))
    with pytest.raises(LikewiseError, match="python -m spacy download en_core_web_none"):
        get_parser("en_core_web_none")
