"""Spec strings, the text that names an encoder: `family:target?option=value&option=value`, joined by `+`.

    colour                                   built in
    efficientnet-lite0?flip=1                a short name with an option
    hf:facebook/dinov2-base?pooling=mean     a transformers model, by id or folder
    onnx:model.onnx?size=224                 an ONNX file
    python:my_module:my_function             anything else
    run:shoes/runs/perceptual                what `likewise train` left in a workspace
    colour+efficientnet-lite0?weight=2       several side by side
    (colour+shape)?pca=64&on=split:train     several side by side, and then principal components

The same text in another order gives the same encoder, and every spec has a readable name that is safe as a folder.
A `+`, `?`, `&` or `,` inside a path is written as `%2B`, `%3F`, `%26`, `%2C`.
"""

import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePath
from urllib.parse import quote, unquote

from likewise.errors import LikewiseError

PREFIXES = ("hf", "onnx", "python", "run", "two-tower")
JOINED = "()"  # the family of several encoders in brackets

OPTIONS = {
    "size": "side of the square the network sees, in pixels; of a built-in encoder: its picture is reduced to it first",
    "frame": "how a picture fills that square: centre (cut), squash or pad",
    "crop": "keep only the central part of the picture, 0.8 for instance",
    "box": "1: look only at the box the catalog gives (x1, y1, x2, y2 or bbox)",
    "flip": "1: average with the mirrored picture",
    "pooling": "of a transformers model: cls, mean, pooler or image_embeds; of an EfficientNet-Lite: stages",
    "mean": "of the channels, 0.485/0.456/0.406",
    "std": "of the channels, 0.229/0.224/0.225",
    "input": "name of an ONNX file's input",
    "output": "name of an ONNX file's output",
    "pca": "number of principal components to keep",
    "whiten": "number of principal components to keep, each scaled to equal variance",
    "on": "the images the components are fitted on, split:train for instance, or all",
    "weight": "of one encoder among several joined by +",
    "dtype": "float16 to store vectors in half the space",
    "unscaled": "1: keep the length of the model's own features (what methods for conditions need)",
    "runtime": "torch or onnx instead of whichever is faster",
    "name": "a name of your own for the vectors",
}
FLAGS = ("box", "flip", "unscaled")
OPTIONS_WITHOUT_EFFECT = ("name", "runtime")  # options that do not change the vectors
FITTED_OPTIONS = ("pca", "whiten", "on")  # options that work on vectors already stored


@dataclass(frozen=True)
class Spec:
    """One encoder of a spec string."""

    family: str
    target: str
    options: tuple[tuple[str, str], ...] = ()

    def get(self, option: str) -> str | None:
        return dict(self.options).get(option)

    def without(self, *names: str) -> "Spec":
        return Spec(self.family, self.target, tuple(each for each in self.options if each[0] not in names))

    @cached_property
    def text(self) -> str:
        """The canonical spelling."""
        base = f"{self.family}:{_quoted(self.target)}" if self.family else self.target
        base = f"({self.target})" if self.family == JOINED else base
        options = "&".join(f"{key}={_quoted(value)}" for key, value in self.options)
        return f"{base}?{options}" if options else base

    @cached_property
    def name(self) -> str:
        """Readable, and safe as the name of a folder: `dinov2-base_pooling-mean_flip`."""
        own = self.get("name")
        if own:
            return _safe(own)
        target = self.target.rstrip("/\\")
        if self.family == JOINED:
            target = f"({spec_name(target)})"
        elif self.family == "python":
            target = target.replace(":", ".")
        elif self.family:
            target = PurePath(target).name
            target = target.removesuffix(".onnx") if self.family == "onnx" else target
        words = []
        for key, value in self.options:
            if key in FLAGS:
                words.append(key)
            elif key not in OPTIONS_WITHOUT_EFFECT:
                words.append(value if key == "dtype" else f"{key}-{value}")
        first = target if self.family == JOINED else _safe(target)
        return "_".join([first, *(_safe(word) for word in words)])

    def flag(self, option: str) -> bool:
        return self.get(option) == "1"

    def positive_int(self, option: str) -> int | None:
        """A positive whole number, or None."""
        value = self.get(option)
        if value is None:
            return None
        if not value.isdecimal() or int(value) < 1:
            raise LikewiseError(f"{option}={value} in {self.text!r} is not a positive whole number.")
        return int(value)

    def fraction(self, option: str) -> float:
        """A number above 0 and at most 1; 1 when the option is absent."""
        value = self.get(option)
        try:
            number = float(value or 1)
        except ValueError:
            number = 0.0
        if not 0.0 < number <= 1.0:
            raise LikewiseError(f"{option}={value} in {self.text!r} is not a number above 0 and up to 1.")
        return number

    def floats(self, option: str) -> tuple[float, ...] | None:
        """Numbers divided by slashes, or None."""
        value = self.get(option)
        try:
            return tuple(float(part) for part in value.split("/")) if value else None
        except ValueError:
            raise LikewiseError(f"{option}={value} in {self.text!r} is not a list such as 0.5/0.5/0.5.") from None

    @property
    def weight(self) -> float:
        """Of this encoder among several; 1 when the option is absent."""
        value = self.get("weight")
        try:
            weight = float(value or 1)
        except ValueError:
            weight = 0.0
        if not 0.0 < weight < float("inf"):
            raise LikewiseError(f"weight={value} in {self.text!r} is not a positive number.")
        return weight


def parse_spec(text: str) -> tuple[Spec, ...]:
    """The encoders a spec string joins, usually one."""
    return tuple(_parse_one(part, text) for part in _split(text))


def _split(text: str) -> list[str]:
    """At every + that is not inside brackets."""
    parts, depth = [""], 0
    for sign in text:
        depth += (sign == "(") - (sign == ")")
        if sign == "+" and depth == 0:
            parts.append("")
        else:
            parts[-1] += sign
    if depth:
        raise LikewiseError(f"a bracket is missing in the encoder {text!r}.")
    return parts


def _parse_one(text: str, whole: str) -> Spec:
    text = text.strip()
    inner, _, query = text.rpartition(")") if text.startswith("(") else ("", "", "")
    base, _, query = (inner[1:], "", query.removeprefix("?")) if inner else text.partition("?")
    if inner:
        return Spec(JOINED, "+".join(part.text for part in parse_spec(base)), _options(query, text))
    family, colon, target = base.partition(":")
    if not colon:
        family, target = "", base
    elif family not in PREFIXES:
        raise LikewiseError(f"the encoder {text!r} starts with {family!r}: known are {', '.join(PREFIXES)}, as in hf:.")
    if not target:
        raise LikewiseError(f"a name is missing in the encoder {whole!r}.")
    return Spec(family, unquote(target), _options(query, text))


def _options(query: str, text: str) -> tuple[tuple[str, str], ...]:
    options = dict(_parse_option(each, text) for each in query.split("&") if each)
    return tuple((key, options[key]) for key in OPTIONS if key in options)


def _parse_option(text: str, spec: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or key not in OPTIONS:
        raise LikewiseError(f"{text!r} in {spec!r} is no option: write OPTION=VALUE with {', '.join(OPTIONS)}.")
    if key in FLAGS and value not in ("0", "1"):
        raise LikewiseError(f"{text!r} in {spec!r}: {key} is 0 or 1.")
    return key, unquote(value)


def spec_name(text: str) -> str:
    """The folder name of a spec; a plain name stays what it is."""
    return "+".join(part.name for part in parse_spec(text))


def _quoted(value: str) -> str:
    return quote(value, safe="/:~ \\=()[]@!$';")


def _safe(word: str) -> str:
    return re.sub(r"[^\w.=-]+", "-", word).strip("-.") or "encoder"
