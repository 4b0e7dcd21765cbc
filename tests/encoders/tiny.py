"""Tiny transformers models with random weights, saved in the real format: a second to make, none to load."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

SIZE = 32
BLOCK: dict[str, Any] = {
    "hidden_size": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 32,
}
SQUARE = {"height": SIZE, "width": SIZE}


def make_model(family: str, folder: Path) -> Path:
    """A model of one family in `folder`, with its processor and, for two towers, its tokenizer."""
    import torch
    import transformers

    transformers.utils.logging.set_verbosity_error()
    torch.manual_seed(sum(map(ord, family)))
    folder.mkdir(parents=True)
    network, processor = MAKERS[family](transformers)
    network.eval().save_pretrained(folder)
    processor.save_pretrained(folder)
    if family == "clip":
        clip_tokenizer(folder)
    if family == "siglip":
        siglip_tokenizer(folder)
    return folder


def vision(**more: Any) -> dict[str, Any]:
    return BLOCK | {"image_size": SIZE, "patch_size": 8} | more


def _vit(t: Any) -> tuple[Any, Any]:
    return t.ViTModel(t.ViTConfig(**vision())), t.ViTImageProcessorPil(size=SQUARE)


def _dinov2(t: Any) -> tuple[Any, Any]:
    return t.Dinov2Model(t.Dinov2Config(**vision())), t.BitImageProcessorPil(
        size={"shortest_edge": SIZE + 8}, crop_size=SQUARE
    )


class DinoProcessor:
    """The settings as DINOv3's models have them; the class itself needs torchvision."""

    def save_pretrained(self, folder: Path) -> None:
        settings = {
            "image_processor_type": "DINOv3ViTImageProcessorFast",
            "do_resize": True,
            "size": SQUARE,
            "resample": 2,
            "do_rescale": True,
            "rescale_factor": 1 / 255,
            "do_normalize": True,
            "image_mean": [0.485, 0.456, 0.406],
            "image_std": [0.229, 0.224, 0.225],
            "crop_size": None,
            "do_center_crop": None,
        }
        (folder / "preprocessor_config.json").write_text(json.dumps(settings))


def _dinov3(t: Any) -> tuple[Any, Any]:
    network = t.DINOv3ViTModel(t.DINOv3ViTConfig(**vision(), num_register_tokens=2))
    return network, DinoProcessor()


def _beit(t: Any) -> tuple[Any, Any]:
    network = t.BeitModel(t.BeitConfig(**vision(), use_relative_position_bias=True))
    return network, t.BeitImageProcessorPil(size=SQUARE, do_center_crop=False)


def _clip(t: Any) -> tuple[Any, Any]:
    text = BLOCK | {"vocab_size": 300, "max_position_embeddings": 16, "bos_token_id": 298, "eos_token_id": 299}
    config = t.CLIPConfig(vision_config=vision(), text_config=text, projection_dim=20)
    return t.CLIPModel(config), t.CLIPImageProcessorPil(size={"shortest_edge": SIZE}, crop_size=SQUARE)


def _siglip(t: Any) -> tuple[Any, Any]:
    text = BLOCK | {"vocab_size": 60, "max_position_embeddings": 16, "projection_size": 24}
    return t.SiglipModel(t.SiglipConfig(vision_config=vision(), text_config=text)), t.SiglipImageProcessorPil(
        size=SQUARE
    )


def _convnext(t: Any) -> tuple[Any, Any]:
    config = t.ConvNextConfig(hidden_sizes=[8, 12, 16, 24], depths=[1, 1, 1, 1])
    return t.ConvNextModel(config), t.ConvNextImageProcessorPil(size={"shortest_edge": 64})


def _resnet(t: Any) -> tuple[Any, Any]:
    config = t.ResNetConfig(embedding_size=8, hidden_sizes=[8, 12, 16, 24], depths=[1, 1, 1, 1])
    return t.ResNetModel(config), t.ConvNextImageProcessorPil(size={"shortest_edge": 64})


def _swin(t: Any) -> tuple[Any, Any]:
    config = t.SwinConfig(image_size=SIZE, patch_size=4, embed_dim=8, depths=[1, 1], num_heads=[2, 2], window_size=4)
    return t.SwinModel(config), t.ViTImageProcessorPil(size=SQUARE)


def _mae(t: Any) -> tuple[Any, Any]:
    return t.ViTMAEModel(t.ViTMAEConfig(**vision())), t.ViTImageProcessorPil(size=SQUARE)


MAKERS: dict[str, Callable[[Any], tuple[Any, Any]]] = {
    "vit": _vit,
    "dinov2": _dinov2,
    "dinov3": _dinov3,
    "beit": _beit,
    "clip": _clip,
    "siglip": _siglip,
    "convnext": _convnext,
    "resnet": _resnet,
    "swin": _swin,
    "mae": _mae,
}


def clip_tokenizer(folder: Path) -> None:
    """Byte-level vocabulary without merges, in the files OpenAI's models come with."""
    from transformers import CLIPTokenizer

    letters = [chr(code) for code in range(33, 127)]
    words = [*letters, *(letter + "</w>" for letter in letters)]
    vocabulary = {word: number for number, word in enumerate(words)}
    vocabulary |= {"<|startoftext|>": 298, "<|endoftext|>": 299}
    (folder / "vocab.json").write_text(json.dumps(vocabulary))
    (folder / "merges.txt").write_text("#version: 0.2\n")
    CLIPTokenizer(str(folder / "vocab.json"), str(folder / "merges.txt"), model_max_length=16).save_pretrained(folder)


def siglip_tokenizer(folder: Path) -> None:
    """A SentencePiece model of a few words."""
    import sentencepiece
    from transformers import SiglipTokenizer

    (folder / "words.txt").write_text("a red shoe\na blue dress\nthe green bag with dots\nstripes and leather\n" * 20)
    sentencepiece.SentencePieceTrainer.train(
        input=str(folder / "words.txt"),
        model_prefix=str(folder / "spiece"),
        vocab_size=50,
        model_type="unigram",
        pad_id=0,
        eos_id=1,
        unk_id=2,
        bos_id=-1,
        minloglevel=2,
        hard_vocab_limit=False,
        num_threads=1,
    )
    SiglipTokenizer(str(folder / "spiece.model"), model_max_length=16).save_pretrained(folder)


def make_sentence_encoder(folder: Path, words: Sequence[str]) -> Path:
    """A BERT of one layer with random weights and a mask token, which knows these words."""
    import tokenizers
    import torch
    import transformers

    t: Any = transformers
    folder.mkdir(parents=True)
    numbered = {word: number for number, word in enumerate(("[PAD]", "[UNK]", "[MASK]", *words))}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(numbered, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    fast = t.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, unk_token="[UNK]", pad_token="[PAD]", mask_token="[MASK]"
    )
    fast.save_pretrained(folder)
    shape = t.BertConfig(
        vocab_size=32, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32
    )
    torch.manual_seed(0)
    t.BertModel(shape).save_pretrained(folder)
    return folder
