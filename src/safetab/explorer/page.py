"""A page: what is on it, and what answers it. The shell serves any page in the same way.

In: nothing. Out: a frozen value that `serve.serve` takes. The promise: the shell adds the frame, the access rules, the
style and the charts; a page says what is in between, and is made before anybody opens it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from htmltools import TagChild
    from shiny import Inputs, Outputs, Session


@dataclass(frozen=True, slots=True)
class Page:
    """One page of the explorer.

    `title` is the heading and the name of the browser's tab. `subtitle` says what is shown, such as the file of a
    release. `contents` is called once; `answers` is called for each browser tab, with Shiny's inputs, outputs and
    session. A page that needs work of its own before it is left has nothing to say here: it reads files only.
    """

    title: str
    subtitle: str
    contents: Callable[[], TagChild]
    answers: Callable[[Inputs, Outputs, Session], None]
