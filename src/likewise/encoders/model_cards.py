"""Encoders with a short name: where the weights are, how large they are, and under which licence.

The VSD paper's generators and the other models it evaluates have the public weights that come nearest; where they
differ from the paper's, `STAND_INS` says so. Sizes are of the weights file, parameters in millions.
"""

from dataclasses import dataclass

BUILT_IN = ("colour", "texture", "shape", "layout", "blend")
DEFAULT_ENCODERS = ("efficientnet-lite0", "colour", "texture", "shape", "layout")
"""What `likewise encode` runs unless told otherwise; chosen by docs/default_encoders.py."""

LICENCE = "Apache-2.0"  # of the built-in ones

DESCRIPTIONS = {
    "colour": "Which colours the thing has: a soft Lab histogram of it, its upper and its lower half.",
    "texture": "What the surface is like: local binary patterns and edge statistics at several scales.",
    "shape": "Which outline and inner edges the thing has: oriented edges in cells, and the silhouette.",
    "layout": "Where light, dark and colour are in the frame: low frequencies of a small Lab picture.",
    "blend": "Colour, texture, shape and layout together, in fixed proportions.",
}


@dataclass(frozen=True)
class ModelCard:
    """One network with a short name."""

    name: str
    spec: str
    """What the short name stands for; a timm/ model needs the package timm beside transformers."""
    dim: int
    megabytes: int
    parameters: float
    licence: str
    description: str


SMALL = "ImageNet network for small machines"
EFFICIENTNET_LITE = (
    ModelCard("efficientnet-lite0", "", 1280, 19, 4.7, LICENCE, f"{SMALL}, 224 pixels."),
    ModelCard("efficientnet-lite1", "", 1280, 22, 5.4, LICENCE, f"{SMALL}, 240 pixels."),
    ModelCard("efficientnet-lite2", "", 1280, 25, 6.1, LICENCE, f"{SMALL}, 260 pixels."),
)

HUB_MODELS = (
    ModelCard("dino", "hf:facebook/dino-vitb16", 768, 343, 85.8, "Apache-2.0", "DINO ViT-B/16, self-supervised."),
    ModelCard("beit", "hf:microsoft/beit-base-patch16-224-pt22k-ft22k", 768, 412, 102.6, "Apache-2.0", "BEiT base."),
    ModelCard("clip", "hf:openai/clip-vit-base-patch16", 512, 599, 149.6, "MIT", "CLIP ViT-B/16, images and text."),
    ModelCard(
        "argus",
        "hf:timm/resnext101_32x8d.fb_wsl_ig1b_ft_in1k",
        2048,
        356,
        88.8,
        "CC-BY-NC-4.0",
        "ResNeXt-101 32x8d, weakly supervised.",
    ),
    ModelCard("resnet50", "hf:microsoft/resnet-50", 2048, 103, 25.6, "Apache-2.0", "ResNet-50, ImageNet labels."),
    ModelCard(
        "convnext", "hf:facebook/convnext-base-224", 1024, 354, 88.6, "Apache-2.0", "ConvNeXt base, ImageNet labels."
    ),
    ModelCard("vit", "hf:google/vit-base-patch16-224", 768, 346, 86.6, "Apache-2.0", "ViT-B/16, ImageNet-21k then 1k."),
    ModelCard("mae", "hf:facebook/vit-mae-base", 768, 448, 111.9, "Apache-2.0", "Masked autoencoder ViT-B/16."),
    ModelCard("swag", "hf:timm/regnety_160.swag_ft_in1k", 3024, 334, 83.6, "CC-BY-NC-4.0", "SWAG RegNetY-16GF."),
    ModelCard(
        "noisystudent",
        "hf:timm/tf_efficientnet_b7.ns_jft_in1k",
        2560,
        266,
        66.3,
        "Apache-2.0",
        "EfficientNet-B7, noisy student.",
    ),
    ModelCard("dinov2", "hf:facebook/dinov2-base", 768, 346, 86.6, "Apache-2.0", "DINOv2 ViT-B/14, self-supervised."),
    ModelCard(
        "dinov3",
        "hf:facebook/dinov3-vitb16-pretrain-lvd1689m",
        768,
        343,
        85.7,
        "DINOv3 licence",
        "DINOv3 ViT-B/16, self-supervised; asks for consent.",
    ),
    ModelCard(
        "swin", "hf:microsoft/swin-base-patch4-window7-224", 1024, 352, 87.8, "Apache-2.0", "Swin base, ImageNet."
    ),
    ModelCard(
        "siglip2", "hf:google/siglip2-base-patch16-224", 768, 1501, 375.2, "Apache-2.0", "SigLIP 2, images and text."
    ),
    ModelCard(
        "fashionclip", "hf:patrickjohncyr/fashion-clip", 512, 605, 151.3, "MIT", "CLIP tuned on fashion, with text."
    ),
)

SIZE_NOT_NAMED = "The VSD paper does not say which size it evaluated."
STAND_INS = {
    "argus": "Not the VSD paper's Argus: that is a ResNeXt-101 32x8d trained on Bing web data in its text and a "
    "DenseNet-161 in its public code, and neither is on the hub; these weights learned from hashtags, then ImageNet.",
    "dino": "Not the VSD paper's: its public code loads ViT-S/8 (hf:facebook/dino-vits8); this is the larger ViT-B/16.",
    "beit": "The weights that the VSD paper's public code loads.",
    "clip": "Not the VSD paper's: its public code loads ViT-B/32 (hf:openai/clip-vit-base-patch32); this is ViT-B/16.",
    "resnet50": "Not the VSD paper's: its public code takes the 1,000 outputs of the classifier with other ImageNet "
    "weights; this is the vector before the classifier.",
    "vit": "Not the VSD paper's ViT-B/16 of ImageNet-21k: this one was tuned on ImageNet-1k after that.",
    "convnext": SIZE_NOT_NAMED,
    "mae": SIZE_NOT_NAMED,
    "swag": SIZE_NOT_NAMED,
    "noisystudent": SIZE_NOT_NAMED,
}
"""How a model of the VSD paper and the one of the same name here differ."""

NOT_PUBLIC = {
    "moco": "MoCo",
    "swav": "SwAV",
}
"""Models of the paper whose public weights are in no format that transformers reads."""

UNTRAINED = ModelCard("small", "", 192, 0, 0.3, "Apache-2.0", "Small network, not trained yet, 64 pixels.")
"""Its weights are drawn, not learned: of use only to `likewise train`."""

CARDS_BY_NAME = {known.name: known for known in (*EFFICIENTNET_LITE, *HUB_MODELS, UNTRAINED)}
