"""From what a transformers model returns to one vector per picture: which rule suits which family.

`cls` takes the class token, `mean` the mean over the patches (without class and register tokens), `pooler` the
model's own pooled output, `image_embeds` the image side of a two-tower model, in the space it shares with text.
"""

from typing import Any

from likewise.errors import LikewiseError

POOLINGS = ("cls", "mean", "pooler", "image_embeds")

TWO_TOWER_TYPES = ("clip", "siglip", "siglip2", "chinese_clip", "altclip", "align", "metaclip_2", "blip")

POOLING_BY_TYPE = {
    "vit": "cls",  # also DINO, MoCo v3 and other networks saved as ViT
    "deit": "cls",
    "dinov2": "cls",
    "dinov2_with_registers": "cls",
    "dinov3_vit": "cls",
    "ijepa": "mean",
    "vit_mae": "mean",
    "vit_msn": "cls",
    "beit": "mean",
    "data2vec-vision": "mean",
    "clip_vision_model": "pooler",
    "siglip_vision_model": "pooler",
}


def choose_pooling(config: dict[str, Any], wanted: str | None) -> str:
    """The pooling of a model, by its family unless `wanted`."""
    family = str(config.get("model_type", ""))
    if wanted is not None:
        if wanted not in POOLINGS:
            raise LikewiseError(f"pooling={wanted} is unknown: use {', '.join(POOLINGS)}.")
        if wanted == "image_embeds" and family not in TWO_TOWER_TYPES:
            raise LikewiseError(f"a {family} model has no image_embeds: use cls, mean or pooler.")
        return wanted
    return "image_embeds" if family in TWO_TOWER_TYPES else POOLING_BY_TYPE.get(family, "pooler")


def pooled_dim(config: dict[str, Any], pooling: str) -> int | None:
    """The length of the vector as far as the configuration tells, None where it does not."""
    vision = config.get("vision_config") or config
    if pooling == "image_embeds" and "projection_dim" in config:
        return int(config["projection_dim"])
    if "num_features" in config:  # timm
        return int(config["num_features"])
    if "hidden_sizes" in vision:
        return int(vision["hidden_sizes"][-1])
    return int(vision["hidden_size"]) if "hidden_size" in vision else None


def pool(output: Any, pooling: str, count_prefix_tokens: int) -> Any:
    """A tensor (n, dim) from a model's output."""
    hidden = output.last_hidden_state
    pooled = getattr(output, "pooler_output", None)
    if pooling == "pooler" and pooled is not None:
        return pooled.flatten(1)
    if hidden.dim() == 4:
        return hidden.mean((2, 3))
    if pooling == "cls":
        return hidden[:, 0]
    return hidden[:, count_prefix_tokens:].mean(1)


def count_prefix_tokens(config: dict[str, Any], model: Any) -> int:
    """How many tokens before the patches belong to no patch."""
    vision = config.get("vision_config") or config
    family = str(vision.get("model_type", config.get("model_type", "")))
    if family.startswith(("siglip", "swin", "ijepa")):
        return 0
    has_class_token = any(name.endswith(("cls_token", "class_embedding")) for name, _ in model.named_parameters())
    return int(has_class_token) + int(vision.get("num_register_tokens") or 0)
