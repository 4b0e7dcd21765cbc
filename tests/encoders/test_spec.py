"""Spec strings: one spelling per encoder, names that are safe as folders, mistakes answered in a sentence."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from likewise.encoders.spec import parse_spec, spec_name
from likewise.errors import LikewiseError


def test_options_in_any_order_are_the_same_encoder() -> None:
    one, other = parse_spec("hf:a/b?flip=1&size=96&pooling=mean"), parse_spec("hf:a/b?pooling=mean&size=96&flip=1")
    assert one == other
    assert one[0].text == other[0].text == "hf:a/b?size=96&flip=1&pooling=mean"
    assert parse_spec(one[0].text) == one


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("colour", "colour"),
        ("hf:facebook/dinov2-base", "dinov2-base"),
        ("hf:/models/dinov2 base/?pooling=mean&flip=1", "dinov2-base_flip_pooling-mean"),
        ("onnx:../nets/lite0.onnx?mean=0.5/0.5/0.5", "lite0_mean-0.5-0.5-0.5"),
        ("python:my.module:function", "my.module.function"),
        ("efficientnet-lite0?pca=64&on=split:train&dtype=float16", "efficientnet-lite0_pca-64_on-split-train_float16"),
        ("efficientnet-lite0?runtime=torch", "efficientnet-lite0"),
        ("colour+shape?weight=2", "colour+shape_weight-2"),
        ("hf:a/b?size=96&name=mine", "mine"),
        ("(colour+shape)?pca=8&on=all", "(colour+shape)_pca-8_on-all"),
    ],
)
def test_every_spec_has_a_readable_name(spec: str, name: str) -> None:
    assert spec_name(spec) == name


@given(st.text(max_size=30))
def test_a_name_never_leads_out_of_its_folder_and_never_divides_a_list(target: str) -> None:
    try:
        name = spec_name("hf:" + target)
    except LikewiseError:
        return
    assert name not in ("", ".", "..")
    assert not set(name) & set("/\\\0,:?&")
    assert not name.startswith(".")


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("xyz:model", r"starts with 'xyz': known are hf, onnx, python"),
        ("hf:", "a name is missing"),
        ("colour+", "a name is missing"),
        ("colour?size", "'size' in 'colour\\?size' is no option: write OPTION=VALUE"),
        ("colour?colour=1", "is no option"),
        ("colour?flip=yes", "flip is 0 or 1"),
        ("(colour+shape", "a bracket"),
    ],
)
def test_mistakes_are_answered_in_one_sentence(spec: str, said: str) -> None:
    with pytest.raises(LikewiseError, match=said) as caught:
        parse_spec(spec)
    assert "\n" not in str(caught.value)


def test_numbers_in_options_are_checked() -> None:
    [spec] = parse_spec("hf:a/b?size=0&crop=1.5&mean=a/b")
    with pytest.raises(LikewiseError, match=r"size=0 in .* is not a positive whole number"):
        spec.positive_int("size")
    with pytest.raises(LikewiseError, match=r"crop=1.5 in .* is not a number above 0 and up to 1"):
        spec.fraction("crop")
    with pytest.raises(LikewiseError, match=r"mean=a/b in .* is not a list such as"):
        spec.floats("mean")
