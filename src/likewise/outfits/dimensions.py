"""The six dimensions and 27 sub-dimensions of the Academicism Aesthetic Test, with A100's number of questions for each.

The paper names all sub-dimensions of color, season, material and balance, four of eight styles and four of five
occasions; the others are ours. Its questions: color 1-20 (5 each), style 21-52 (4 each), occasion 53-67 (3 each),
season 68-79 (3 each), material 80-91 (4 each), balance 92-100 (3 each).
"""

from collections.abc import Mapping

from likewise.errors import LikewiseError

AAT_PLAN: dict[str, dict[str, int]] = {
    "color": dict.fromkeys(("same color", "warm tone", "cool tone", "contrast color"), 5),
    "style": dict.fromkeys(("streetwear", "modern", "vintage", "sweet", "sporty", "elegant", "rock", "boho"), 4),
    "occasion": dict.fromkeys(("formal", "cocktail", "smart casual", "casual", "outdoor"), 3),
    "season": dict.fromkeys(("spring", "summer", "autumn", "winter"), 3),
    "material": dict.fromkeys(("element", "pattern", "texture"), 4),
    "balance": dict.fromkeys(("silhouette", "simple & complicated", "proportion"), 3),
}
DIMENSIONS: tuple[str, ...] = tuple(AAT_PLAN)


def check_dimension(dimension: str, sub_dimension: str) -> None:
    """Refuse a dimension or sub-dimension that is not in the plan."""
    if dimension not in AAT_PLAN:
        raise LikewiseError(f"there is no dimension {dimension!r}: use {', '.join(DIMENSIONS)}.")
    if sub_dimension not in AAT_PLAN[dimension]:
        raise LikewiseError(
            f"{dimension} has no sub-dimension {sub_dimension!r}: use {', '.join(AAT_PLAN[dimension])}."
        )


def scale_plan(n_questions: int, plan: Mapping[str, Mapping[str, int]] = AAT_PLAN) -> dict[str, dict[str, int]]:
    """The plan for another number of questions, in the same proportions (largest remainders), at least one each."""
    cells = [(name, sub, quota) for name, subs in plan.items() for sub, quota in subs.items()]
    if n_questions < len(cells):
        raise LikewiseError(f"a test over {len(cells)} sub-dimensions needs at least {len(cells)} questions.")
    whole = sum(quota for *_, quota in cells)
    exact = [quota * n_questions / whole for *_, quota in cells]
    counts = [max(1, int(value)) for value in exact]
    by_need = sorted(range(len(cells)), key=lambda place: (counts[place] - exact[place], place))
    for place in by_need[: max(0, n_questions - sum(counts))]:
        counts[place] += 1
    while sum(counts) > n_questions:
        counts[max(range(len(cells)), key=lambda place: (counts[place] - exact[place], counts[place]))] -= 1
    scaled: dict[str, dict[str, int]] = {name: {} for name in plan}
    for (name, sub, _), count in zip(cells, counts, strict=True):
        scaled[name][sub] = count
    return scaled
