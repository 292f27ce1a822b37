"""SafeTab: differentially private population tables.

Importing this package does no work: the public names below are loaded when they are first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "1.0.0"

if TYPE_CHECKING:
    from safetab.engines.choice import Spark as Spark
    from safetab.errors import InputError as InputError
    from safetab.errors import MachineError as MachineError
    from safetab.errors import SafetabError as SafetabError
    from safetab.errors import UsageError as UsageError
    from safetab.params.load import Parameters as Parameters
    from safetab.params.load import load as load
    from safetab.pipeline.check import CheckReport as CheckReport
    from safetab.pipeline.check import check_inputs as check_inputs
    from safetab.pipeline.tabulate import TabulatedRelease as TabulatedRelease
    from safetab.pipeline.tabulate import tabulate as tabulate
    from safetab.reading.answers import Estimate as Estimate
    from safetab.reading.release import Release as Release
    from safetab.reading.release import change as change
    from safetab.reading.release import open as open  # noqa: A004
    from safetab.verifying.verify import VerifyReport as VerifyReport
    from safetab.verifying.verify import verify as verify

_HOME = {
    "CheckReport": "safetab.pipeline.check",
    "check_inputs": "safetab.pipeline.check",
    "Spark": "safetab.engines.choice",
    "InputError": "safetab.errors",
    "MachineError": "safetab.errors",
    "SafetabError": "safetab.errors",
    "UsageError": "safetab.errors",
    "Parameters": "safetab.params.load",
    "load": "safetab.params.load",
    "TabulatedRelease": "safetab.pipeline.tabulate",
    "tabulate": "safetab.pipeline.tabulate",
    "Estimate": "safetab.reading.answers",
    "Release": "safetab.reading.release",
    "change": "safetab.reading.release",
    "open": "safetab.reading.release",
    "VerifyReport": "safetab.verifying.verify",
    "verify": "safetab.verifying.verify",
}
__all__ = ["__version__", *sorted(_HOME)]


def __getattr__(name: str) -> object:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'safetab' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
