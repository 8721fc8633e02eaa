"""Options shared by several commands, and their validation."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from functools import partial
from pathlib import Path
from shlex import quote
from typing import Annotated, Any, Literal, get_args

import typer

from .._format import join_words
from .files import check_input

Kernel = Literal["gaussian", "laplacian"]
Method = Literal[
    "kernel-pca", "reduced-set", "diffusion-maps", "laplacian-eigenmaps", "normalized-cut"
]


def _require(valid: Callable[[float], bool], what: str) -> Callable[..., Any]:
    """Return a callback that rejects invalid values, including NaN."""

    def check(value: float | None) -> float | None:
        if value is not None and not valid(value):
            raise typer.BadParameter(f"{value:g} is not {what}.")
        return value

    return check


_positive = _require(lambda value: value > 0, "a positive number")
_finite = _require(lambda value: 0 < value < math.inf, "a positive, finite number")
_share = _require(lambda value: 0 < value < 1, "between 0 and 1")


def _models(paths: list[Path]) -> list[Path]:
    if len(paths) < 2:
        raise typer.BadParameter("pass at least two models.")
    return [path for path in paths if check_input(path)]


def _choice(kind: Any) -> Any:
    return Model(metavar="NAME", help=f"{join_words(get_args(kind), 'or')}.")


# Option groups in the help. Paths are checked by the callback, not by typer.
_Argument = partial(typer.Argument, callback=check_input, readable=False)
Input = partial(typer.Option, rich_help_panel="Columns")
Model = partial(typer.Option, rich_help_panel="Model")
Output = partial(typer.Option, rich_help_panel="Output")
File = partial(Output, metavar="FILE")
OutputFile = partial(File, "--output", "-o")
_Number = partial(Model, metavar="NUMBER", callback=_finite)

_FORMATS = ".parquet .arrow .arrows .feather .csv .tsv .csv.gz .csv.zst .xlsx .npy .npz .h5 .zarr"
DataPath = Annotated[Path, _Argument(metavar="DATA", help=f"File, or folder of files: {_FORMATS}")]
FittedData = Annotated[
    Path | None,
    _Argument(metavar="DATA", help="The fitted data, for measuring the error on a sample."),
]
ModelPath = Annotated[Path, _Argument(metavar="MODEL", help="Model file written by rskpca fit.")]
ModelPaths = Annotated[
    list[Path], _Argument(metavar="MODEL", callback=_models, help="Two or more model files.")
]

Components = Annotated[
    int, Model("--components", "-r", metavar="N", min=1, help="Number of components or clusters.")
]
Ell = Annotated[float, _Number(help="Resolution: 3 is coarse, 5 is fine.")]
PlannedEll = Annotated[
    float | None, _Number(help="Plan a reduced set instead, for this and other resolutions.")
]
MaxError = Annotated[
    float | None,
    _Number(
        callback=_share, help="Target error of the coordinates; 0.02 by default for kernel-pca."
    ),
]
Bandwidth = Annotated[
    float | None,
    _Number(
        help="Kernel bandwidth; median distance by default (a neighbor distance for random walks)."
    ),
]
Standardize = Annotated[
    bool, Model("--standardize", "-s", help="Scale features to mean 0 and variance 1.")
]
Confidence = Annotated[
    float, typer.Option(metavar="NUMBER", callback=_share, help="Confidence level.")
]
Color = Annotated[
    str | None, Output(metavar="NAME", help="Color the report by this column (not a feature).")
]
ReportId = Annotated[
    str | None,
    Output("--id", metavar="NAME", help="Column that identifies the rows in the report."),
]


class _Options:
    """Base class for groups of options."""

    def as_options(self, without: tuple[str, ...] = ()) -> str:
        """Return the non-default options as command-line text, each with a leading space."""
        typed = ""
        for field in fields(self):  # type: ignore[arg-type]
            value, option = vars(self)[field.name], field.name.replace("_", "-")
            if field.name in without or value == field.default:
                continue
            if isinstance(value, bool):
                typed += f" --{option}" if value else f" --no-{option}"
            else:
                items = value if isinstance(value, list) else [value]
                typed += "".join(f" --{option} {quote(_as_text(item))}" for item in items)
        return typed


def _as_text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


@dataclass(frozen=True)
class Reading(_Options):  # numpydoc ignore=PR01
    """Options for the columns and the format of the data."""

    columns: Annotated[
        list[str] | None,
        Input("--columns", "-c", metavar="NAMES", help="Features: 'x*,age' or numbers from 0."),
    ] = None
    exclude: Annotated[
        list[str] | None,
        Input("--exclude", "-x", metavar="NAMES", help="Columns that are not features."),
    ] = None
    include: Annotated[
        list[str] | None,
        Input("--include", metavar="NAMES", help="Columns of row numbers to use as features."),
    ] = None
    weight: Annotated[str | None, Input(metavar="NAME", help="Column with sample weights.")] = None
    delimiter: Annotated[
        str | None, Input(metavar="CHAR", help=".csv delimiter; detected by default.")
    ] = None
    decimal: Annotated[
        str | None, Input(metavar="CHAR", help=".csv decimal mark; detected by default.")
    ] = None
    header: Annotated[
        bool | None,
        Input(
            "--header/--no-header",
            help="Whether a .csv starts with column names; detected by default.",
        ),
    ] = None
    dataset: Annotated[
        str | None, Input(metavar="NAME", help="Array in .npz, .h5 or .zarr, or sheet in .xlsx.")
    ] = None
    skip_missing: Annotated[
        bool, Input("--skip-missing", help="Skip rows with missing or infinite values.")
    ] = False

    def __post_init__(self) -> None:
        if self.columns and self.include:
            raise typer.BadParameter("cannot be combined with --columns.", param_hint="--include")


@dataclass(frozen=True)
class Settings(_Options):  # numpydoc ignore=PR01
    """Options for the model to fit."""

    components: Components = 5
    max_error: MaxError = None
    ell: Annotated[
        float | None,
        _Number(
            callback=_positive,
            help="Use a reduced set of this resolution: 3 is coarse, 5 is fine, inf is exact.",
        ),
    ] = None
    bandwidth: Bandwidth = None
    kernel: Annotated[Kernel, _choice(Kernel)] = "gaussian"
    method: Annotated[Method, _choice(Method)] = "kernel-pca"
    refine: Annotated[
        bool, Model("--refine", help="Use a reduced set, refined in a second pass over the data.")
    ] = False
    small: Annotated[
        bool, Model("--small", help="Write only what transform needs, without error estimates.")
    ] = False
    standardize: Standardize = False
    max_centers: Annotated[
        int | None, Model(metavar="N", min=2, help="Use a reduced set of at most N centers.")
    ] = None
    like: Annotated[
        Path | None,
        Model(
            metavar="MODEL",
            callback=check_input,
            readable=False,
            help="Copy the settings, bandwidth and scaling of a model.",
        ),
    ] = None

    def __post_init__(self) -> None:
        given = [f.name for f in fields(self) if vars(self)[f.name] != f.default]
        if self.like is not None and len(given) > 1:
            option = next(f"--{name.replace('_', '-')}" for name in given if name != "like")
            raise typer.BadParameter("cannot be combined with --like.", param_hint=option)
        if self.max_error is not None and self.ell is not None:
            raise typer.BadParameter("cannot be combined with --ell.", param_hint="--max-error")
        if self.refine and self.method not in ("kernel-pca", "reduced-set"):
            raise typer.BadParameter("requires --method reduced-set.", param_hint="--refine")

    @property
    def chooses_method(self) -> bool:
        """Return True for kernel PCA, unless an option requires a reduced set."""
        asked = self.ell is not None or self.max_centers is not None or self.refine
        return self.method == "kernel-pca" and not asked


def expand(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function in which each dataclass parameter is replaced by its fields."""
    # This lets commands share groups of options, while typer sees one parameter per option.
    given = inspect.signature(function, eval_str=True).parameters.values()
    bundles: dict[str, Any] = {p.name: p.annotation for p in given if is_dataclass(p.annotation)}
    parameters: list[inspect.Parameter] = []
    for parameter in given:
        if parameter.name not in bundles:
            parameters.append(parameter)
            continue
        own = inspect.signature(bundles[parameter.name], eval_str=True).parameters.values()
        parameters += [option.replace(kind=parameter.kind) for option in own]

    def run(**values: Any) -> Any:
        for name, bundle in bundles.items():
            own = {field.name: values.pop(field.name) for field in fields(bundle)}
            values[name] = bundle(**own)
        return function(**values)

    run.__name__, run.__doc__ = function.__name__, function.__doc__
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {p.name: p.annotation for p in parameters}
    return run
