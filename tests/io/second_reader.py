"""A reader of model files that follows only docs/format.md and does not import rskpca."""

import hashlib
import json
import math
import struct

import numpy as np

MAGIC = bytes.fromhex("72736b7063611a0a")


def read(path):
    """Return the header of a file and its model, with instances as (class name, values)."""
    data = path.read_bytes()
    magic, version, header_length, length = struct.unpack_from("<8sIIQ", data)
    if magic != MAGIC or version > 3 or length != len(data):
        raise ValueError("invalid file")
    if hashlib.sha256(data[:-32]).digest() != data[-32:]:
        raise ValueError("wrong checksum")
    end = 24 + header_length
    header = json.loads(data[24:end].decode("ascii"))
    arrays = []
    for dtype, shape, order, _ in header["arrays"]:
        start = math.ceil(end / 64) * 64
        count = math.prod(shape)
        array = np.frombuffer(data, dtype, count, start) if count else np.empty(0, dtype)
        arrays.append(array.reshape(shape, order=order))
        end = start + count * int(dtype[2:])
    if end + 32 != length:
        raise ValueError("wrong lengths")
    return header, convert(header["model"], arrays)


def convert(tree, arrays):
    """Return the value that a tree represents."""
    if isinstance(tree, list):
        return [convert(item, arrays) for item in tree]
    if not isinstance(tree, dict):
        return tree
    ((tag, content),) = tree.items()
    if tag == "float":
        return float(content)
    if tag == "tuple":
        return tuple(convert(item, arrays) for item in content)
    if tag == "names":
        return content
    if tag == "array":
        return arrays[content]
    if tag == "scalar":
        return arrays[content].item()
    values = {name: convert(value, arrays) for name, value in content.items()}
    return values if tag == "dict" else (tag, values)


def embed(model, X):
    """Return the coordinates of rows in a fitted ReducedSetKernelPCA."""
    _, values = model
    fitted = values["model_"]
    _, system = fitted["evaluated"] or fitted["system"]
    K = kernel_values(system["kernel"], X, system["centers"])
    name, operator = system["operator"]
    if name == "FittedCentered":
        K = K - (K @ operator["shares"])[:, None] - operator["means"] + operator["mean"]
    elif name == "Shifted":
        K = K - operator["means"]
    return K @ system["coefficients"] * fitted["scale"]


def kernel_values(kernel, X, centers):
    name, values = kernel
    distances = np.linalg.norm(X[:, None] - centers, axis=2) / values["bandwidth"]
    return np.exp(-(distances**2) if name == "Gaussian" else -distances)
