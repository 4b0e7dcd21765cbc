"""Colours: one per model, the same in every plot, told apart by colour-blind readers; a scale for ordered lines.

Figures are drawn in the light colours; `svg.py` turns each into a CSS variable that has a dark variant.
Models (after Okabe and Ito) beyond the seventh repeat the colours with another dash.
"""

from collections.abc import Iterable

INK = "#1b1f24"
SOFT = "#6a737d"
RULE = "#dfe3e8"
PAPER = "#fefefe"
MODEL_LIGHT = ("#0072b2", "#d55e00", "#009e73", "#b0609a", "#4aa3df", "#b8860b", "#5b5b66")
MODEL_DARK = ("#5aaee6", "#ff8c42", "#3fcf9f", "#e39fd0", "#9fd6ff", "#e6bf4f", "#b9bcc6")
STEP_LIGHT = ("#c4920f", "#8a9e22", "#47a05c", "#1f9688", "#2a80a2", "#3a65a9", "#49479d", "#4b2783")
STEP_DARK = ("#ffd866", "#c9d65b", "#86d98c", "#55cdbb", "#62b8d8", "#86a5ea", "#a493ee", "#c48ff0")
DASHES = ("solid", (0, (4, 1.6)), (0, (1.2, 1.4)), (0, (6, 1.5, 1.5, 1.5)))
Dash = str | tuple[int, tuple[float, ...]]


def css_variables() -> dict[str, tuple[str, str, str]]:
    """CSS variable by light colour: name, light, dark."""
    names = {
        INK: ("--ink", INK, "#e8eaed"),
        SOFT: ("--soft", SOFT, "#9aa4af"),
        RULE: ("--rule", RULE, "#30363d"),
        PAPER: ("--paper", PAPER, "#14171b"),
    }
    for kind, lights, darks in (("model", MODEL_LIGHT, MODEL_DARK), ("step", STEP_LIGHT, STEP_DARK)):
        for number, (light, dark) in enumerate(zip(lights, darks, strict=True)):
            names[light] = (f"--{kind}-{number}", light, dark)
    return names


def model_styles(encoders: Iterable[str]) -> dict[str, tuple[str, Dash]]:
    """Colour and dash of every model, by name, so that both stay when the order of the models changes."""
    return {
        name: (MODEL_LIGHT[place % len(MODEL_LIGHT)], DASHES[place // len(MODEL_LIGHT) % len(DASHES)])
        for place, name in enumerate(sorted(encoders))
    }


def step_colour(place: int, n_steps: int) -> str:
    """The colour of one of `n_steps` ordered lines, from yellow to violet."""
    last = len(STEP_LIGHT) - 1
    return STEP_LIGHT[last if n_steps < 2 else round(place * last / (n_steps - 1))]
