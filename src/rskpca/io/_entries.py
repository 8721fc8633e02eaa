"""What is known of a class whose objects a model file may hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from importlib import import_module
from typing import Any

from ._fields import Field, Sizes, feature_names, settings, whole
from .errors import refuse

# What is made again when it is needed.
_CACHES = frozenset({"_cover_", "_model_", "_preimages_", "_set_"})

Settle = Callable[[Any], None]


def _fields_of(value: Any) -> dict[str, Any]:
    return {f.name: getattr(value, f.name) for f in fields(value)}


def _called(cls: Any, values: dict[str, Any]) -> Any:
    return cls(**values)


def no_more(value: Any) -> None:
    """What was made from sound values is sound."""


@dataclass(frozen=True)
class Entry:
    """A class, and what its objects hold.

    ``required`` values are there in every object, ``optional`` ones may be. ``take`` gives an
    object's values by name, ``build`` makes an object of them, ``settle`` looks at the whole.
    """

    module: str
    name: str
    required: Mapping[str, Field]
    optional: Mapping[str, Field] = field(default_factory=dict)
    take: Callable[[Any], dict[str, Any]] = _fields_of
    build: Callable[[Any, dict[str, Any]], Any] = _called
    settle: Settle = no_more

    @property
    def cls(self) -> Any:
        """The class, imported when it is needed."""
        return getattr(import_module(self.module), self.name)

    def make(self, values: dict[str, Any]) -> Any:
        """An object of checked values."""
        return self.build(self.cls, values)

    def check(self, values: dict[str, Any], sizes: Sizes) -> None:
        """Whether an object of these values can be; leaves its sizes."""
        self._check_names(set(values))
        for name, check in {**self.required, **self.optional}.items():
            if name in values:
                try:
                    check(values[name], sizes)
                except ValueError as error:
                    refuse(f"{name} {error}")

    def _check_names(self, given: set[str]) -> None:
        missing = set(self.required) - given
        if missing:
            refuse(f"{', '.join(sorted(missing))} must be there")
        unknown = given - set(self.required) - set(self.optional)
        if unknown:
            refuse(f"nothing is known of {', '.join(sorted(unknown)):.100} in a {self.name}")


@dataclass(frozen=True)
class EstimatorEntry(Entry):
    """An estimator. Its parameters may be anything; what ``fit`` left is there whole, or not."""

    def _check_names(self, given: set[str]) -> None:
        learnt = given - parameters(self.cls)
        if learnt - {"_sklearn_output_config"}:
            super()._check_names(learnt | (set(self.required) & given))


@cache
def parameters(cls: Any) -> frozenset[str]:
    """Names of an estimator's parameters."""
    return frozenset(cls._get_param_names())


def state_of(estimator: Any) -> dict[str, Any]:
    """Parameters, and what is not there in a new estimator of the same."""
    given = estimator.get_params(deep=False)
    new = vars(type(estimator)(**given))
    learnt = {k: v for k, v in vars(estimator).items() if k not in new and k not in _CACHES}
    return {**given, **learnt}


def restored(cls: Any, values: dict[str, Any]) -> Any:
    """An estimator with its parameters, and what it had learnt."""
    names = parameters(cls)
    made = cls(**{k: v for k, v in values.items() if k in names})
    vars(made).update({k: v for k, v in values.items() if k not in names})
    return made


def sound_parameters(estimator: Any) -> None:
    """A fitted embedding answers by its parameters: they must be such as ``fit`` takes."""
    if hasattr(estimator, "n_features_in_"):
        estimator._check_parameters()


FEATURES: dict[str, Field] = {"n_features_in_": whole(1, "d")}
ALWAYS: dict[str, Field] = {"feature_names_in_": feature_names, "_sklearn_output_config": settings}


def value(cls: type, required: Mapping[str, Field], **more: Any) -> Entry:
    """An entry for a dataclass, or for what is made as one."""
    return Entry(cls.__module__, cls.__name__, required, **more)


def estimator(
    cls: type,
    learnt: Mapping[str, Field],
    optional: Mapping[str, Field] | None = None,
    settle: Settle = no_more,
    take: Callable[[Any], dict[str, Any]] = state_of,
) -> EstimatorEntry:
    """An entry for an estimator of ours."""
    required, may_be = {**FEATURES, **learnt}, {**ALWAYS, **(optional or {})}
    return EstimatorEntry(cls.__module__, cls.__name__, required, may_be, take, restored, settle)
