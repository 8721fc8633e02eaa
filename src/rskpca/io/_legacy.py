"""Convert trees from format versions 1 (written by rskpca 0.1.0) and 2 to version 3.

Version 2 stores sums at random frequencies, which are dropped. Version 3 stores a row sample
instead.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ._container import ModelFileError
from ._schema import CLASSES

_RENAMED = {"Sums": "Statistics", "Rows": "WindowRows", "_AtMostTen": "ReducedSetKernelPCA"}


def upgrade(tree: Any, arrays: list[NDArray[Any]], version: int) -> Any:
    """Convert a tree to version 3, appending arrays that version 1 did not store."""
    try:
        if version == 1:
            tree = _FromVersion1(arrays).value(tree)
        return _FromVersion2().value(tree)
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise ModelFileError(f"its content is not valid in format version {version}") from error


class _Upgrade:
    """Converter that visits every object in a tree."""

    renamed: ClassVar[dict[str, str]] = {}

    def value(self, tree: Any) -> Any:
        """Convert a value, starting with its parts."""
        if isinstance(tree, list):
            return [self.value(item) for item in tree]
        if not isinstance(tree, dict) or len(tree) != 1:
            return tree
        ((tag, content),) = tree.items()
        if tag == "tuple":
            return {tag: self.value(content)}
        if not isinstance(content, dict):
            return tree
        content = {name: self.value(item) for name, item in content.items()}
        tag = self.renamed.get(tag, tag)
        if tag in CLASSES:
            self._convert(tag, content)
        return {tag: content}

    def _convert(self, tag: str, content: dict[str, Any]) -> None:
        """Convert the values of an object in place."""
        raise NotImplementedError  # implemented by one subclass per version


class _FromVersion2(_Upgrade):
    """Converter that drops sums at random frequencies."""

    def _convert(self, tag: str, content: dict[str, Any]) -> None:
        if tag in ("ReducedSet", "FadingStream", "WindowStream"):
            del content["spectrum"]
            content["sample"] = None
        elif tag == "ShadowDensity" and content.pop("n_frequencies", None) == 0:
            content["sample_size"] = 0  # it was fitted without error estimates
        elif tag == "Certificate":
            content |= {"embedding": None, "better_components": None}
        elif content.get("model_") is not None:
            content["model_"]["dict"]["wider"] = None


class _FromVersion1(_Upgrade):
    """Converter for one tree and its list of arrays."""

    renamed = _RENAMED

    def __init__(self, arrays: list[NDArray[Any]]) -> None:
        self._arrays = arrays

    def _convert(self, tag: str, content: dict[str, Any]) -> None:
        if tag == "ReducedSet":
            content.setdefault("lost", 0.0)
        elif tag == "FadingStream":
            content["statistics"] = content.pop("sums")
        elif tag == "NeighbourGraph":
            content["tree"] = {"KDTree": {"data": content.pop("points")}}
        elif "_system_" in content:
            self._convert_embedding(tag, content)

    def _convert_embedding(self, tag: str, content: dict[str, Any]) -> None:
        is_walk = "_solved_" in content
        system, solved = content.pop("_system_"), content.pop("_solved_", None)
        outdated = system is None or (is_walk and solved is None)
        model = None if outdated else self._model(system, solved)
        if "_points_" in content:
            self._convert_landmarks(tag, content, model)
        else:
            _drop_kernel(content)
            if model is not None:
                model["dict"]["certified"] = tag == "ReducedSetKernelPCA"
        content["model_"] = model

    def _model(self, system: Any, solved: Any) -> Any:
        """Return the fields of a fitted model."""
        model = dict.fromkeys(("evaluated", "known", "partition", "offset", "time"))
        model |= {"certified": False, "landmarks": False, "system": system}
        if "SparseSystem" in system:
            sparse = dict(system["SparseSystem"])
            model |= {"kept_weights": sparse.pop("weights"), "noise": sparse.pop("noise")}
            model["system"] = {"EigenSystem": sparse}
        if solved is not None:
            walk = solved["Solved"]
            model["system"] = walk["shown"]
            model["evaluated"] = None if walk["evaluated"] == walk["shown"] else walk["evaluated"]
            is_partition = isinstance(walk["made"], dict) and "Partition" in walk["made"]
            model["partition" if is_partition else "time"] = walk["made"]
        model["scale"] = self._scale(model)
        return {"dict": model}

    def _scale(self, model: dict[str, Any]) -> Any:
        """Return the scaling from eigenfunctions to coordinates, which version 1 did not store."""
        system, time = model["system"]["EigenSystem"], model["time"]
        eigenvalues, walk = self._array(system["eigenvalues"]), system["operator"]
        with np.errstate(all="ignore"):
            if "FittedMarkov" not in walk:
                return self._store(np.sqrt(eigenvalues))
            if time is None:
                return self._store(np.ones(len(eigenvalues)))
            pull, reach = (self._array(walk["FittedMarkov"][name]) for name in ("pull", "reach"))
            time = float(time["float"] if isinstance(time, dict) else time)
            return self._store(np.sqrt((pull * reach).sum()) * eigenvalues**time)

    def _convert_landmarks(self, tag: str, content: dict[str, Any], model: Any) -> None:
        """Separate the landmarks from the points used to learn pre-images."""
        points, weighted = content.pop("_points_"), tag == "WeightedNystromKernelPCA"
        if weighted:
            content |= {"_landmarks_": content.pop("reduced_set_"), "_moments_": None}
        elif content["_moments_"] is not None:
            content["_landmarks_"] = points
        else:  # extension="data"
            content["_landmarks_"] = self._equal_weights(content["landmarks_"], points)
        if model is not None:
            known = None if content["_landmarks_"] == points else points
            model["dict"] |= {"landmarks": not weighted, "known": known}

    def _equal_weights(self, landmarks: Any, points: Any) -> Any:
        """Return equally weighted landmarks with the same total weight as the points."""
        total, count = points["ReducedSet"]["n_samples"], len(self._array(landmarks))
        unknown = dict.fromkeys(("radius", "spacing", "displacement", "scatter", "spectrum"))
        sums = {"weights": np.full(count, total / count), "residue": np.zeros(count)}
        stored = {name: self._store(values) for name, values in sums.items()}
        known = {"centers": landmarks, "n_samples": total, "lost": 0.0}
        return {"ReducedSet": {**unknown, **stored, **known}}

    def _array(self, tree: Any) -> NDArray[Any]:
        return self._arrays[tree["array"]]

    def _store(self, array: NDArray[Any]) -> dict[str, int]:
        self._arrays.append(array)
        return {"array": len(self._arrays) - 1}


def _drop_kernel(content: dict[str, Any]) -> None:
    """Restore the requested kernel of the fitted density; 0.1.0 stored the embedding's kernel."""
    given = content.get("density")
    (fitted,) = content["density_"].values()
    (asked,) = [{}] if given is None else given.values()
    fitted["kernel"] = asked.get("kernel")
    if "density" in fitted:
        fitted["density"] = asked.get("density")
