"""SafeTab: differentially private population tables.

Importing this package does no work: the public names below are loaded when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from safetab.checks.inputs import CheckReport as CheckReport
    from safetab.checks.inputs import check_inputs as check_inputs
    from safetab.errors import InputError as InputError
    from safetab.errors import MachineError as MachineError
    from safetab.errors import SafetabError as SafetabError
    from safetab.errors import UsageError as UsageError
    from safetab.params.load import Parameters as Parameters
    from safetab.params.load import load as load
    from safetab.pipeline.run import TabulatedRelease as TabulatedRelease
    from safetab.pipeline.run import tabulate as tabulate

_HOME = {
    "CheckReport": "safetab.checks.inputs",
    "check_inputs": "safetab.checks.inputs",
    "InputError": "safetab.errors",
    "MachineError": "safetab.errors",
    "SafetabError": "safetab.errors",
    "UsageError": "safetab.errors",
    "Parameters": "safetab.params.load",
    "load": "safetab.params.load",
    "TabulatedRelease": "safetab.pipeline.run",
    "tabulate": "safetab.pipeline.run",
}
__all__ = ["__version__", *sorted(_HOME)]


def __getattr__(name: str) -> object:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'safetab' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
