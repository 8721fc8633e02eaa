"""Test the parsers for published file formats with small files."""

import bz2
import gzip
import io
import lzma
import struct
import tarfile

import numpy as np
import pytest
from scipy.io import savemat

from experiments import data
from experiments.data import sources
from experiments.data.formats import parse_mnist, parse_yale, read_idx, read_rdata
from experiments.data.sources import Files

# The first lines of the published files, truncated.
TEXTS = {
    "german": [b"   1   6   4  12   1 \n   2  48   2  60   2 \n"],
    "pendigits": [b" 47,100, 27, 8\n", b" 88, 92,  2, 8\n"],
    "optdigits": [b"0,1,6,0\n0,0,10,7\n", b"0,0,5,2\n"],
    "usps": [gzip.compress(b"6.0000 -1.0000 -0.6310 \n"), gzip.compress(b"9 -1.000  0.862\n")],
    "covtype": [gzip.compress(b"2596,51,3,5\n2590,56,-2,2\n")],
    "skin": [b"74\t85\t123\t1\n73\t84\t122\t2\n"],
    "magic": [b"28.7967,-8.2027,g\n31.6036,9.9574,h\n"],
}
TABLES = {
    "german": ([[1, 6, 4, 12], [2, 48, 2, 60]], [1, 2]),
    "pendigits": ([[47, 100, 27], [88, 92, 2]], [8, 8]),
    "optdigits": ([[0, 1, 6], [0, 0, 10], [0, 0, 5]], [0, 7, 2]),
    "usps": ([[-1, -0.631], [-1, 0.862]], [6, 9]),
    "covtype": ([[2596, 51, 3], [2590, 56, -2]], [5, 2]),
    "skin": ([[74, 85, 123], [73, 84, 122]], [1, 2]),
    "magic": ([[28.7967, -8.2027], [31.6036, 9.9574]], [0, 1]),
}


@pytest.mark.parametrize("name", TEXTS)
def test_text_tables_are_parsed(name, monkeypatch):
    X, y = TABLES[name]
    source = data.get_dataset(name).sources[-1]
    files = dict(zip(source.urls, TEXTS[name], strict=True))
    monkeypatch.setattr(sources, "read", files.__getitem__)
    rows, labels = source.fetch()
    np.testing.assert_array_equal(rows, X)
    np.testing.assert_array_equal(labels, y)
    assert labels.dtype == np.int64


def test_an_html_page_raises_an_error():
    with pytest.raises(ValueError, match="could not convert"):
        data.get_dataset("skin").sources[-1].parse(b"<html>moved</html>")


def encode_idx(array):
    header = struct.pack(">HBB", 0, 8, array.ndim) + struct.pack(f">{array.ndim}I", *array.shape)
    return header + array.astype(np.uint8).tobytes()


def test_mnist_idx_files_are_parsed():
    images = np.arange(3 * 2 * 2).reshape(3, 2, 2)
    X, y = parse_mnist(
        encode_idx(images),
        encode_idx(np.array([5, 0, 4])),
        encode_idx(images[:1] + 9),
        encode_idx(np.array([7])),
    )
    np.testing.assert_array_equal(X, np.concatenate([images, images[:1] + 9]).reshape(4, 4))
    np.testing.assert_array_equal(y, [5, 0, 4, 7])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\x00\x00\x0d\x01\x00\x00\x00\x01\x00", "Not an idx file"),
        (encode_idx(np.ones(3))[:-1], "2 values"),
    ],
)
def test_an_invalid_idx_file_raises_an_error(content, message):
    with pytest.raises(ValueError, match=message):
        read_idx(content)


def test_matlab_files_are_parsed(tmp_path):
    path = tmp_path / "faces.mat"
    X = np.arange(6, dtype=np.uint8).reshape(2, 3)
    savemat(path, {"fea": X, "gnd": np.array([[1], [38]])})
    source = data.get_dataset("yaleb_ext").sources[-1]
    rows, labels = Files((path.as_uri(),), source.parse).fetch()
    np.testing.assert_array_equal(rows, X)
    np.testing.assert_array_equal(labels, [1, 38])


# The format written by R's save(): for each item, its flags, then its content.
NIL = struct.pack(">i", 254)


def as_int32(*numbers):
    return struct.pack(f">{len(numbers)}i", *numbers)


def characters(text):
    return as_int32(0x40009, len(text)) + text.encode()


def symbol(text):
    return as_int32(1) + characters(text)


def reals(values, attributes=b""):
    return (
        as_int32(14 | (0x200 if attributes else 0), len(values))
        + np.array(values, ">f8").tobytes()
        + attributes
    )


def integers(values, attributes=b""):
    return as_int32(13 | (0x200 if attributes else 0), len(values), *values) + attributes


def strings(*values):
    return as_int32(16, len(values)) + b"".join(map(characters, values))


def pairs(*items):
    """Encode a linked list of names (given as encoded items) and values."""
    return b"".join(as_int32(0x402) + name + value for name, value in items) + NIL


def named_list(names, *values):
    body = as_int32(19 | 0x200, len(values)) + b"".join(values)
    return body + pairs((symbol("names"), strings(*names)))


def encode_rdata(objects, version=2):
    head = f"RDX{version}\nX\n".encode() + as_int32(version, 0x30500, 0x20300)
    encoding = as_int32(5) + b"UTF-8" if version == 3 else b""
    return head + encoding + objects


MATRIX = np.array([[3.32, 3.59, 1.0], [0.5, 15.9, 2.0]])
FACES = named_list(
    ["x", "y"],
    reals(MATRIX.ravel(order="F"), pairs((symbol("dim"), integers([2, 3])))),
    integers([1, 10]),
)


@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress])
def test_r_files_are_parsed(version, pack):
    found = read_rdata(pack(encode_rdata(pairs((symbol("yale"), FACES)), version)))["yale"]
    np.testing.assert_array_equal(found["x"], MATRIX)
    np.testing.assert_array_equal(found["y"], [1, 10])


def test_r_files_may_refer_to_earlier_symbols():
    dim = pairs((symbol("dim"), integers([1, 2])))
    again = pairs((as_int32(255 | 2 << 8), integers([2, 1])))  # refers to the second symbol, dim
    objects = pairs((symbol("a"), reals([1, 2], dim)), (symbol("b"), reals([3, 4], again)))
    found = read_rdata(encode_rdata(objects))
    assert found["a"].shape == (1, 2)
    assert found["b"].shape == (2, 1)


def untagged(*values):
    return b"".join(as_int32(2) + value for value in values) + NIL


def test_r_files_may_contain_ranges_and_wrapped_vectors():
    kind = untagged(symbol("compact_intseq"), symbol("base"), integers([13]))
    count = as_int32(238) + kind + reals([3, 5, 1]) + NIL
    wrap = untagged(symbol("wrap_real"), as_int32(255 | 3 << 8), integers([14]))
    dotted = as_int32(2) + reals([0.5, 0.25]) + integers([0, 0])
    wrapped = as_int32(238) + wrap + dotted + NIL
    found = read_rdata(encode_rdata(pairs((symbol("a"), count), (symbol("b"), wrapped)), 3))
    np.testing.assert_array_equal(found["a"], [5, 6, 7])
    np.testing.assert_array_equal(found["b"], [0.5, 0.25])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"not R", "Not a file written by R"),
        (encode_rdata(pairs((symbol("yale"), FACES)))[:-30], "truncated"),
        (encode_rdata(pairs((symbol("f"), as_int32(3)))), "type 3"),
    ],
)
def test_an_invalid_r_file_raises_an_error(content, message):
    with pytest.raises(ValueError, match=message):
        read_rdata(content)


def test_yale_is_read_from_an_r_package():
    packed = io.BytesIO()
    content = gzip.compress(encode_rdata(pairs((symbol("yale"), FACES))))
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        member = tarfile.TarInfo("PPCI/data/yale.RData")
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    X, y = parse_yale(packed.getvalue())
    np.testing.assert_array_equal(X, MATRIX)
    np.testing.assert_array_equal(y, [1, 10])
