"""Build ONNX graphs from arithmetic expressions.

Only :meth:`Graph.model` imports onnx.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

OPSET = 18
IR_VERSION = 8  # released with this opset, so runtimes support both or neither
_MAX_BYTES = 2**31 - 2**20  # protobuf limits files to 2 GB; this leaves room for the nodes
_UNUSED = {"TopK": ["indices"]}  # required outputs that no node reads


@dataclass(frozen=True, eq=False)
class Value:
    """A tensor computed by a graph, with one row per point. Operands are cast to its dtype."""

    graph: Graph
    name: str
    dtype: np.dtype[Any]

    def __add__(self, other: Any) -> Value:
        return self._with("Add", other)

    def __sub__(self, other: Any) -> Value:
        return self._with("Sub", other)

    def __mul__(self, other: Any) -> Value:
        return self._with("Mul", other)

    def __truediv__(self, other: Any) -> Value:
        return self._with("Div", other)

    def __matmul__(self, other: Any) -> Value:
        return self._with("MatMul", other)

    def __neg__(self) -> Value:
        return self.node("Neg")

    def __gt__(self, other: Any) -> Value:
        return self._with("Greater", other, dtype=np.bool_)

    def __ge__(self, other: Any) -> Value:
        return self._with("GreaterOrEqual", other, dtype=np.bool_)

    def __lt__(self, other: Any) -> Value:
        return self._with("Less", other, dtype=np.bool_)

    def __le__(self, other: Any) -> Value:
        return self._with("LessOrEqual", other, dtype=np.bool_)

    def _with(self, operator: str, other: Any, dtype: Any = None) -> Value:
        return self.node(operator, self.graph.constant(other, self.dtype), dtype=dtype)

    def node(self, operator: str, *others: Value, dtype: Any = None, **attributes: Any) -> Value:
        """Return ``operator(self, *others)``, in the same dtype unless ``dtype`` is given."""
        return self.graph.node(operator, self, *others, dtype=dtype or self.dtype, **attributes)

    def cast(self, dtype: Any) -> Value:
        """Return the values converted to another dtype."""
        return self if self.dtype == dtype else self.node("Cast", dtype=dtype, to=np.dtype(dtype))

    def row_sums(self) -> Value:
        """Return the sum of each row, as a column."""
        return self.node("ReduceSum", self.graph.constant([1], np.int64), keepdims=1)

    def row_max(self, keepdims: int) -> Value:
        """Return the maximum of each row, as a column if ``keepdims`` is 1."""
        return self.node("ReduceMax", self.graph.constant([1], np.int64), keepdims=keepdims)

    def column(self, index: int | Sequence[int]) -> Value:
        """Return the given columns, or one column as a vector if ``index`` is an integer."""
        return self.node("Gather", self.graph.constant(index, np.int64), axis=1)

    def row_argmax(self) -> Value:
        """Return the index of the first maximum in each row."""
        return self.node("ArgMax", dtype=np.int64, axis=1, keepdims=0)


@dataclass(eq=False)
class Graph:
    """Nodes in order of creation, and the constants they use."""

    nodes: list[tuple[str, list[str], str, dict[str, Any]]] = field(default_factory=list)
    constants: dict[str, NDArray[Any]] = field(default_factory=dict)

    def input(self, name: str, dtype: Any) -> Value:
        """Add an input to the graph."""
        return Value(self, name, np.dtype(dtype))

    def constant(self, value: Any, dtype: Any) -> Value:
        """Add a constant to the graph; a Value is returned unchanged."""
        if isinstance(value, Value):
            return value
        array, name = np.asarray(value, dtype=dtype), f"constant_{len(self.constants)}"
        self.constants[name] = array
        return Value(self, name, array.dtype)

    def node(self, operator: str, *inputs: Value, dtype: Any, **attributes: Any) -> Value:
        """Add a node with a standard operator, and return its output."""
        name = f"{operator}_{len(self.nodes)}"
        self.nodes.append((operator, [value.name for value in inputs], name, attributes))
        return Value(self, name, np.dtype(dtype))

    def output(self, value: Value, name: str, dtype: Any) -> Value:
        """Mark a value as an output with this name and dtype."""
        self.nodes.append(("Cast", [value.name], name, {"to": np.dtype(dtype)}))
        return Value(self, name, np.dtype(dtype))

    def model(
        self,
        x: tuple[Value, int],
        outputs: Sequence[tuple[Value, list[Any]]],
        metadata: Mapping[str, str],
    ) -> Any:
        """Build and validate a ``ModelProto``, given the input's width and the outputs' shapes."""
        import onnx
        from onnx import helper, numpy_helper

        self._check_size()
        value, width = x
        graph = helper.make_graph(
            [_proto(*node) for node in self.nodes],
            metadata["class"],
            [helper.make_tensor_value_info(value.name, _code(value.dtype), ["rows", width])],
            [helper.make_tensor_value_info(v.name, _code(v.dtype), s) for v, s in outputs],
            [numpy_helper.from_array(array, name) for name, array in self.constants.items()],
        )
        model = helper.make_model(
            graph,
            opset_imports=[helper.make_opsetid("", OPSET)],
            ir_version=IR_VERSION,
            producer_name="rskpca",
            producer_version=metadata["rskpca_version"],
        )
        helper.set_model_props(model, dict(metadata))
        onnx.checker.check_model(model, full_check=True)
        return model

    def _check_size(self) -> None:
        size = sum(array.nbytes for array in self.constants.values())
        if size > _MAX_BYTES:
            raise ValueError(
                f"the model requires {size / 1e9:.1f} GB, but an ONNX file is limited to 2 GB; use "
                'a smaller basis: basis="auto", a smaller ell, or extension="landmarks".'
            )


def _proto(operator: str, inputs: list[str], name: str, attributes: dict[str, Any]) -> Any:
    from onnx import helper

    plain: dict[str, Any] = {
        k: _code(v) if isinstance(v, np.dtype) else v for k, v in attributes.items()
    }
    outputs = [name, *(f"{name}_{unused}" for unused in _UNUSED.get(operator, []))]
    return helper.make_node(operator, inputs, outputs, name=f"{operator}:{name}", **plain)


def _code(dtype: np.dtype[Any]) -> int:
    """Return the ONNX type code of a dtype."""
    from onnx import helper

    return int(helper.np_dtype_to_tensor_dtype(dtype))
