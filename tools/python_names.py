"""docs/reference/python.md: the public names of the package, from their signatures and docstrings.

In: `safetab.__all__`. Out: the lines of the page, plain Markdown. The promise: every public name is on the page, with
its docstring, and so is every public method of a class; nothing else is.
"""

from __future__ import annotations

import ast
import dataclasses
import inspect
import textwrap
from collections.abc import Callable, Iterator

import safetab

#: The names in the order in which a reader meets them. A test holds that none is missing.
SECTIONS = {
    "Make a release": ("load", "Parameters", "check_inputs", "CheckReport", "tabulate", "TabulatedRelease", "Spark"),
    "Read a release": ("open", "Release", "Estimate", "change"),
    "Errors": ("SafetabError", "InputError", "UsageError", "MachineError"),
    "Version": ("__version__",),
}
#: What a class offers besides its own methods: some of those that it inherits.
_INHERITED = {"Release": ("find", "table", "name_of")}
_WIDTH = 88


def page() -> Iterator[str]:
    """The page, line by line."""
    yield from ("# Python", "", "*For people who use SafeTab from Python.*", "")
    yield "`import safetab` does no work; a name is loaded when it is first used. These names are public, and no others"
    yield "are. They are made from the docstrings, which `help(safetab.tabulate)` shows too."
    listed = {name for names in SECTIONS.values() for name in names}
    more = sorted(set(safetab.__all__) - listed)
    for title, names in (SECTIONS | ({"More": tuple(more)} if more else {})).items():
        yield from ("", f"## {title}")
        for name in names:
            yield from ("", f"### safetab.{name}", "", *_about(name))


def _about(name: str) -> Iterator[str]:
    value = getattr(safetab, name)
    if inspect.isclass(value):
        yield from _about_class(value)
    elif callable(value):
        yield from (*_signature(name, value), "", *_docstring(value))
    else:
        yield (
            "The version of the package, as text."
            if name == "__version__"
            else f"A value of type {type(value).__name__}."
        )


def _about_class(value: type) -> Iterator[str]:
    if issubclass(value, Exception):
        yield from (f"A kind of {' and of '.join(f'`{base.__name__}`' for base in value.__bases__)}.", "")
    yield from _docstring(value)
    if dataclasses.is_dataclass(value):
        yield from ("", "| field | type | meaning |", "| --- | --- | --- |")
        notes = _notes(value)
        for entry in dataclasses.fields(value):
            yield f"| `{entry.name}` | `{_escaped(str(entry.type))}` | {_escaped(notes.get(entry.name, ''))} |"
    for name, member in _public_members(value):
        if isinstance(member, property):
            yield from ("", f"**`{name}`** (read only): {' '.join(_docstring(member))}")
        else:
            yield from ("", f"#### {value.__name__}.{name}", "", *_signature(name, member), "", *_docstring(member))


def _public_members(value: type) -> Iterator[tuple[str, property | Callable[..., object]]]:
    """Methods and properties with a docstring, in the order of the code. What errors have is for SafeTab itself."""
    own = () if issubclass(value, Exception) else vars(value)
    for name in (*own, *_INHERITED.get(value.__name__, ())):
        member = inspect.getattr_static(value, name)
        is_documented = isinstance(member, property) or inspect.isfunction(member)
        if not name.startswith("_") and is_documented and inspect.getdoc(member):
            yield name, member


def _signature(name: str, function: Callable[..., object]) -> Iterator[str]:
    """The signature as a block of Python that compiles."""
    arguments = [parameter for parameter in inspect.signature(function).parameters.values() if parameter.name != "self"]
    returns = str(inspect.signature(function).return_annotation)
    words = list[str]()
    for number, parameter in enumerate(arguments):
        keyword = parameter.kind is inspect.Parameter.KEYWORD_ONLY
        if keyword and (number == 0 or arguments[number - 1].kind is not inspect.Parameter.KEYWORD_ONLY):
            starts = any(one.kind is inspect.Parameter.VAR_POSITIONAL for one in arguments[:number])
            words += [] if starts else ["*"]
        star = "*" if parameter.kind is inspect.Parameter.VAR_POSITIONAL else ""
        default = parameter.default
        shown = getattr(default, "__name__", None) or repr(default)
        given = "" if default is inspect.Parameter.empty else f" = {shown}"
        words.append(f"{star}{parameter.name}: {parameter.annotation}{given}".replace("'", '"'))
    line = f"def {name}({', '.join(words)}) -> {returns}: ..."
    whole = (
        [line] if len(line) <= _WIDTH else [f"def {name}(", *(f"    {word}," for word in words), f") -> {returns}: ..."]
    )
    yield from ("```python", *whole, "```")


def _docstring(value: object) -> list[str]:
    return (inspect.getdoc(value) or "").splitlines()


def _notes(value: type) -> dict[str, str]:
    """What the `#:` comments above the fields of a class say."""
    lines = textwrap.dedent(inspect.getsource(value)).splitlines()
    found = dict[str, str]()
    body = ast.parse("\n".join(lines)).body[0]
    for node in body.body if isinstance(body, ast.ClassDef) else ():
        above = list[str]()
        for line in reversed(lines[: node.lineno - 1]):
            if not line.strip().startswith("#: "):
                break
            above.insert(0, line.strip().removeprefix("#: "))
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found[node.target.id] = " ".join(above)
    return found


def _escaped(text: str) -> str:
    return text.replace("|", r"\|")
