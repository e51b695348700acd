"""Model folders as fastembed reads them, made from numbers: 32 dimensions, 259 tokens, no network.

A text becomes its UTF-8 bytes, a token each, and its vector their sum; a cross-encoder's score is
the cosine of the question's and the text's. What stands beside it in a batch is added too, as if
the model were quantised for whole batches: an adapter that promises the same in any batch has to
keep texts apart.

The protobuf is written by hand, since the package `onnx` is no dependency: field numbers are
those of onnx.proto3 (ONNX IR 8, operator set 13).
"""

import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Final

import numpy as np
from tokenizers import Tokenizer
from tokenizers.models import BPE
from tokenizers.pre_tokenizers import ByteLevel
from tokenizers.processors import TemplateProcessing

__all__ = ["DIMENSION", "write_cross_encoder", "write_model"]

DIMENSION: Final = 32
TOKENS_MAX: Final = 128
SPECIAL: Final = ("[PAD]", "[CLS]", "[SEP]")
FLOAT, INT64 = 1, 7
"""Element types of a tensor."""
INT, INTS = 2, 7
"""Types of an attribute."""


def write_model(folder: Path) -> Path:
    """Write every file of an encoder into a new folder; returns the folder."""
    return _write(folder, _model)


def write_cross_encoder(folder: Path) -> Path:
    """Write every file of a cross-encoder into a new folder; returns the folder."""
    return _write(folder, _cross_encoder)


def _write(folder: Path, model: Callable[[int], bytes]) -> Path:
    folder.mkdir()
    tokenizer = _tokenizer()
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "model.onnx").write_bytes(model(tokenizer.get_vocab_size()))
    files = {
        "config.json": {"hidden_size": DIMENSION, "pad_token_id": 0},
        "special_tokens_map.json": {"pad_token": "[PAD]", "cls_token": "[CLS]"},
        "tokenizer_config.json": {"model_max_length": TOKENS_MAX, "pad_token": "[PAD]"},
    }
    for name, content in files.items():
        (folder / name).write_text(json.dumps(content), encoding="utf-8")
    return folder


def _tokenizer() -> Tokenizer:
    names = [*SPECIAL, *sorted(ByteLevel.alphabet())]
    tokenizer = Tokenizer(BPE(vocab={name: number for number, name in enumerate(names)}, merges=[]))
    tokenizer.pre_tokenizer = ByteLevel(add_prefix_space=False)
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 1), ("[SEP]", 2)],
    )
    tokenizer.add_special_tokens(list(SPECIAL))
    return tokenizer


def _model(tokens: int) -> bytes:
    ids, mask, out = "input_ids", "attention_mask", "last_hidden_state"
    nodes = (
        _node("Gather", ["table", ids], "rows"),
        _node("Cast", [mask], "kept", to=FLOAT),
        _node("Unsqueeze", ["kept", "last"], "weights"),
        _node("Mul", ["rows", "weights"], "weighted"),
        _node("ReduceSum", ["weighted", "second"], "text", keepdims=1),
        _node("ReduceSum", ["text", "first"], "batch", keepdims=1),
        _node("Add", ["text", "batch"], out),
    )
    return _file(tokens, nodes, (ids, mask), _value(out, FLOAT, ("batch", "one", "dimension")))


def _cross_encoder(tokens: int) -> bytes:
    ids, mask, types, out = "input_ids", "attention_mask", "token_type_ids", "logits"
    nodes = [
        _node("Gather", ["table", ids], "rows"),
        _node("Cast", [mask], "kept", to=FLOAT),
        _node("Cast", [types], "second part", to=FLOAT),
        _node("Sub", ["kept", "second part"], "first part"),
    ]
    for part in ("first", "second"):
        nodes += [
            _node("Unsqueeze", [f"{part} part", "last"], f"{part} weights"),
            _node("Mul", ["rows", f"{part} weights"], f"{part} weighted"),
            _node("ReduceSum", [f"{part} weighted", "second"], f"{part} text", keepdims=0),
            _node("ReduceL2", [f"{part} text"], f"{part} length", axes=(1,), keepdims=1),
            _node("Div", [f"{part} text", f"{part} length"], f"{part} unit"),
        ]
    nodes += [
        _node("Mul", ["first unit", "second unit"], "products"),
        _node("ReduceSum", ["products", "second"], "cosine", keepdims=1),
        _node("ReduceSum", ["cosine", "first"], "batch", keepdims=1),
        _node("Add", ["cosine", "batch"], out),
    ]
    return _file(tokens, nodes, (ids, mask, types), _value(out, FLOAT, ("batch", "one")))


def _file(tokens: int, nodes: Iterable[bytes], inputs: Iterable[str], output: bytes) -> bytes:
    table = np.random.default_rng(7).standard_normal((tokens, DIMENSION)).astype("<f4")
    tensors = [_tensor("table", FLOAT, table)] + [
        _tensor(name, INT64, np.array([axis], dtype="<i8"))
        for name, axis in (("last", -1), ("first", 0), ("second", 1))
    ]
    graph = b"".join(
        (
            *(_part(1, node) for node in nodes),
            _part(2, b"bytes"),
            *(_part(5, tensor) for tensor in tensors),
            *(_part(11, _value(name, INT64, ("batch", "sequence"))) for name in inputs),
            _part(12, output),
        )
    )
    return _number(1, 8) + _part(7, graph) + _part(8, _part(1, b"") + _number(2, 13))


def _node(
    kind: str, inputs: Iterable[str], output: str, **attributes: int | Sequence[int]
) -> bytes:
    named = b"".join(
        _part(5, _part(1, name.encode()) + _attribute(value)) for name, value in attributes.items()
    )
    taken = b"".join(_part(1, name.encode()) for name in inputs)
    return taken + _part(2, output.encode()) + _part(4, kind.encode()) + named


def _attribute(value: int | Sequence[int]) -> bytes:
    if isinstance(value, int):
        return _number(3, value) + _number(20, INT)
    return b"".join(_number(8, one) for one in value) + _number(20, INTS)


def _tensor(name: str, kind: int, values: np.ndarray) -> bytes:
    sizes = b"".join(_number(1, size) for size in values.shape)
    return sizes + _number(2, kind) + _part(8, name.encode()) + _part(9, values.tobytes())


def _value(name: str, kind: int, shape: Iterable[str]) -> bytes:
    sizes = b"".join(_part(1, _part(2, size.encode())) for size in shape)
    return _part(1, name.encode()) + _part(2, _part(1, _number(1, kind) + _part(2, sizes)))


def _part(field: int, content: bytes) -> bytes:
    """Write a length-delimited field."""
    return _varint(field << 3 | 2) + _varint(len(content)) + content


def _number(field: int, value: int) -> bytes:
    """Write a number of at least zero."""
    return _varint(field << 3) + _varint(value)


def _varint(value: int) -> bytes:
    groups = []
    while value > 127:
        groups.append(value & 127 | 128)
        value >>= 7
    return bytes((*groups, value))
