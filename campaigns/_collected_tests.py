"""Runs tests that were collected once, on functions whose code was changed in memory: a fork each, and no import.

Only bodies of functions can be changed so. What importing a module computes, such as a constant or a default, cannot.
"""

import ast
import gc
import inspect
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import pytest

from campaigns._line_tests import Recorder
from campaigns._mutant_runner import ROOT
from campaigns._test_server import Channel, Client, Run, Watch, pytest_options

NOT_IN_MEMORY = 71  # the exit code where importing the module would have to be changed


class CollectedTests:
    """A process that has collected tests.

    Parameters
    ----------
    tests
        Files of tests, and folders of the modules that will be changed, whose examples are tests; not the modules
        themselves, in which pytest would rewrite every `assert`.
    package
        The package's folder.
    root
        Where tests are run, with the settings there.
    """

    def __init__(self, tests: list[Path], package: Path = ROOT / "src" / "mamofair", root: Path = ROOT):
        self._folder, self._package = tempfile.TemporaryDirectory(prefix="mutants-"), package
        self._client = Client(
            __name__,
            Path(self._folder.name),
            str(package),
            *map(str, tests),
            root=root,
            paths=[package.parent, ROOT],
        )

    def run(self, module: str, source: str, tests: tuple[str, ...]) -> Run:
        """Return how tests go with a module's source in the place of its own."""
        return self._client.ask(tests=tests, module=module, source=source)

    def test(self, tests: tuple[str, ...] | str, record: Path | None = None) -> Run:
        """Return how tests, or those of a file, go as things are, and write a record of the lines that they run."""
        return self._client.ask(tests=tests, record=record and str(record))

    def close(self) -> None:
        """End the process."""
        self._client.close()
        self._folder.cleanup()


class _Loop:
    """A plug-in of pytest that answers requests where others run all tests."""

    def __init__(self, channel: Channel, package: Path, watch: Watch):
        self._channel, self._package, self._watch = channel, package, watch

    def pytest_runtestloop(self, session: Any) -> bool:
        items = {item.nodeid: item for item in session.items}
        functions = _functions(self._package)
        gc.collect()
        gc.freeze()

        def work(tests: list[str] | str, module: str = "", source: str = "", record: str | None = None) -> int:
            own = [items[name] for name in tests] if isinstance(tests, list) else _of_file(items, tests)
            if module and not _change(functions, self._package, module, source):
                return NOT_IN_MEMORY
            recorder = Recorder(self._package) if record else None
            if recorder:
                session.config.pluginmanager.register(recorder)
            for item, following in zip_longest(own, own[1:]):
                session.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
                if self._watch.path.read_text() and not recorder:  # a test that fails while recorded takes no part
                    return 1
            if recorder and record:
                recorder.write(Path(record))
            return 0

        self._channel.serve(work)
        return True


def _of_file(items: dict[str, Any], path: str) -> list[Any]:
    return [item for name, item in items.items() if name.partition("::")[0] == path]


def _dotted(path: Path, package: Path) -> str:
    parts = path.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


_Functions = dict[tuple[str, str, int], list[FunctionType]]


def _functions(package: Path) -> _Functions:
    """Return the functions of a package that exist, by file, name and line."""
    found: _Functions = defaultdict(list)
    for value in gc.get_objects():
        # Not `isinstance`, which asks objects for their class: some warn.
        if type(value) is FunctionType and value.__code__.co_filename.startswith(str(package)):
            found[_place(value.__code__)].append(value)
    return found


def _place(code: CodeType) -> tuple[str, str, int]:
    return code.co_filename, code.co_qualname, code.co_firstlineno


def _change(functions: _Functions, package: Path, module: str, source: str) -> bool:
    """Give functions the code of a module's changed source; False if that is not all there is to change."""
    path = package / module
    loader: Any = sys.modules[_dotted(path, package)].__loader__
    own = path.read_text()
    texts = own, ast.unparse(ast.parse(own)), source  # unparsed as the changed source is: lines leave traces
    live, before, after = (list(_codes(loader.source_to_code(text.encode(), str(path)))) for text in texts)
    if len({tuple(code.co_qualname for code in codes) for codes in (live, before, after)}) > 1:
        return False
    changed = [
        (place, new)
        for place, old, new in zip(map(_place, live), before, after, strict=True)
        if _content(old) != _content(new)
    ]
    if not changed or not all(new.co_flags & inspect.CO_OPTIMIZED and functions[place] for place, new in changed):
        return False
    for place, new in changed:
        for function in functions[place]:
            function.__code__ = new
    return True


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Yield the code of a module, its classes and their functions; not what is inside of functions."""
    yield code
    if not code.co_flags & inspect.CO_OPTIMIZED:
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                yield from _codes(constant)


def _content(code: CodeType) -> tuple[object, ...]:
    """Return what code does, wherever its lines are; of what is no function, without the functions inside."""
    inside = [_content(one) if isinstance(one, CodeType) else repr(one) for one in code.co_consts]
    if not code.co_flags & inspect.CO_OPTIMIZED:
        inside = [repr(one) for one in code.co_consts if not isinstance(one, CodeType)]
    return code.co_code, tuple(inside), code.co_names, code.co_varnames, code.co_freevars, code.co_exceptiontable


def _serve(folder: Path, package: Path, tests: list[str]) -> None:
    channel = Channel.open(folder)
    loop = _Loop(channel, package, channel.watch)
    pytest.main([*pytest_options(folder), "-s", *tests], plugins=[channel.watch, loop])


if __name__ == "__main__":
    _serve(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:])
