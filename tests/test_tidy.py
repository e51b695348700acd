"""The repository checks itself: what no linter says, and what reviews would have to repeat.

Each test collects all findings of its kind and prints them as `file:line: sentence`. What a
linter covers is left to it (unsorted `__all__`: RUF022; line width: E501; blind excepts: BLE001).
"""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
FOLDERS: Final = ("streams", "agents", "schemas", "infra")
MODULE_LINES_MAX: Final = 400
TEST_MODULE_LINES_MAX: Final = 600
FUNCTION_LINES_MAX: Final = 70
COLUMNS_MAX: Final = 100
FILE_BYTES_MAX: Final = 300_000
GENERATED: Final = frozenset({"requirements.lock"})
NOT_OURS: Final = frozenset({"__pycache__", "build", "dist", "htmlcov", "node_modules"})
BINARY: Final = frozenset({".png", ".jpg", ".gif", ".npz", ".gz"})

CLOCK: Final = "infra/clock.py"
SETTINGS: Final = "infra/settings.py"
CLI: Final = "src/eunoe/cli"
WORKER_TOPS: Final = {
    "streams/consumer.py": "the only loop that acks: what it doesn't know it must not lose",
    "infra/embedded/shard_opening.py": "its engine raises bare Exception; others are raised on",
}
"""Files that may catch Exception, and why; everywhere else the errors are named."""

CLOCK_CALLS: Final = frozenset(
    {"time.time", "time.time_ns", "datetime.now", "datetime.utcnow", "datetime.today", "date.today"}
)
PRIVATE: Final = (
    "../" + "shared",
    "/" + "work/",
    *(".".join(host) for host in (("pypi", "org"), ("pythonhosted", "org"), ("npmjs", "org"))),
    *(".".join(host) for host in (("crates", "io"), ("golang", "org"), ("debian", "org"))),
)
"""What names somebody's machine or a registry; `.ci/run` alone may look beside the checkout."""

GO: Final = frozenset({".go", ".mod", ".sum"})
GO_MODULE: Final = re.compile(r"(?<![\w./-])(google\.)?golang\.org/(?=\w)")
"""What a Go module is called: a name and no host, though it looks like one."""

CHANGES: Final = {"Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"}


@cache
def every_file() -> tuple[Path, ...]:
    """Return every file of the repository once; links and what tools made are left out."""
    files: list[Path] = []
    for folder, folders, names in os.walk(ROOT):
        folders[:] = sorted(
            name
            for name in folders
            if name not in NOT_OURS
            and not name.endswith(".egg-info")
            and (not name.startswith(".") or name == ".ci")
        )
        files += [Path(folder, name) for name in sorted(names) if not name.startswith(".coverage")]
    return tuple(file for file in files if not file.is_symlink() and file.suffix != ".pyc")


def python_files(*folders: str) -> tuple[Path, ...]:
    """Return the Python files under some folders of the root, without links."""
    return tuple(
        file
        for file in every_file()
        if file.suffix == ".py" and file.relative_to(ROOT).parts[0] in folders
    )


def product() -> tuple[Path, ...]:
    """Return the modules that are installed."""
    return python_files(*FOLDERS, "src")


@cache
def parsed(file: Path) -> ast.Module:
    """Parse a file once."""
    return ast.parse(file.read_text(encoding="utf-8"), str(file))


def name_of(file: Path) -> str:
    """Return a file's path from the root, with slashes."""
    return file.relative_to(ROOT).as_posix()


def say(file: Path, line: int, sentence: str) -> str:
    """Word a finding."""
    return f"{name_of(file)}:{line}: {sentence}"


def dotted(node: ast.expr) -> str:
    """Return `a.b` for an attribute of a name, `a` for a name, else an empty text."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        left = dotted(node.value).rpartition(".")[2]
        return f"{left}.{node.attr}" if left else node.attr
    return ""


def test_the_four_folders_are_linked_into_the_package() -> None:
    """src/eunoe/X is a relative link to ../../X, so that one file has one place."""
    for folder in FOLDERS:
        link = ROOT / "src" / "eunoe" / folder
        assert link.is_symlink(), f"{name_of(link)} must be a symbolic link"
        assert str(link.readlink()) == f"../../{folder}"
        assert link.resolve() == ROOT / folder


def test_no_file_is_read_twice() -> None:
    """The walk behind these tests doesn't follow the links."""
    resolved = [file.resolve() for file in every_file()]
    assert len(resolved) == len(set(resolved))


def test_modules_are_short() -> None:
    """A module is read in one sitting; a longer one is two modules."""
    bounds = [(product(), MODULE_LINES_MAX), (python_files("tests"), TEST_MODULE_LINES_MAX)]
    long = [
        say(file, count, f"{count} lines, at most {bound}: split it by noun.")
        for files, bound in bounds
        for file in files
        if (count := len(file.read_text(encoding="utf-8").splitlines())) > bound
    ]
    assert not long, "\n".join(long)


def test_functions_are_short() -> None:
    """A function fits on a screen, its docstring included."""
    long = [
        say(file, node.lineno, f"{node.name} has {lines} lines, at most {FUNCTION_LINES_MAX}.")
        for file in product()
        for node in ast.walk(parsed(file))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (lines := (node.end_lineno or 0) - node.lineno + 1) > FUNCTION_LINES_MAX
    ]
    assert not long, "\n".join(long)


def test_lines_are_narrow() -> None:
    """No line is wider than the editor window that everybody has, its waivers left out."""
    waiver = re.compile(r"\s+# (noqa|type: ignore|pyright: ignore).*")
    wide = [
        say(file, number, f"{len(line)} columns, at most {COLUMNS_MAX}.")
        for file in python_files(*FOLDERS, "src", "tests", "benchmarks", "docs", "examples")
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        if len(waiver.sub("", line)) > COLUMNS_MAX
    ]
    assert not wide, "\n".join(wide)


def test_files_are_small() -> None:
    """Nothing big is committed: models and data come as packages, or are given by path."""
    big = [
        say(file, 0, f"{size} bytes, at most {FILE_BYTES_MAX}.")
        for file in every_file()
        if file.name not in GENERATED and (size := file.stat().st_size) > FILE_BYTES_MAX
    ]
    assert not big, "\n".join(big)


def banned(file: Path) -> Iterator[str]:
    """Yield what a product module must not call or import."""
    name = name_of(file)
    for node in ast.walk(parsed(file)):
        if isinstance(node, ast.Call):
            called = dotted(node.func)
            if called == "print" and not name.startswith(CLI):
                yield say(file, node.lineno, "print belongs to the command line.")
            if called in CLOCK_CALLS and name != CLOCK:
                yield say(file, node.lineno, f"{called}: ask the Clock that is passed in.")
        if isinstance(node, ast.Attribute | ast.Name):
            used = dotted(node)
            if used in {"os.environ", "os.getenv", "os.environb"} and name != SETTINGS:
                yield say(file, node.lineno, f"{used}: only {SETTINGS} reads the environment.")
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from banned_import(file, node)
        if isinstance(node, ast.ExceptHandler) and name not in WORKER_TOPS and swallows(node):
            caught = "everything" if node.type is None else dotted(node.type)
            if caught in {"everything", "Exception", "BaseException"}:
                yield say(file, node.lineno, f"catches {caught}: name the errors.")


def swallows(handler: ast.ExceptHandler) -> bool:
    """Tell whether a handler keeps what it caught; one that cleans up and re-raises doesn't."""
    last = handler.body[-1]
    return not (isinstance(last, ast.Raise) and last.exc is None)


def banned_import(file: Path, node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    """Yield what an import brings in by the back door."""
    module = node.module if isinstance(node, ast.ImportFrom) else None
    for alias in node.names:
        whole = f"{module}.{alias.name}" if module else alias.name
        if whole.partition(".")[0] == "random":
            yield say(file, node.lineno, "random: chance is passed in, so that a test can set it.")
        if whole in {"time.time", "time.time_ns"} and name_of(file) != CLOCK:
            yield say(file, node.lineno, f"{whole}: ask the Clock that is passed in.")
        if whole in {"os.environ", "os.getenv"} and name_of(file) != SETTINGS:
            yield say(file, node.lineno, f"{whole}: only {SETTINGS} reads the environment.")


def test_no_banned_calls() -> None:
    """Clock, chance, environment and blanket excepts stay where the design puts them."""
    findings = [finding for file in product() for finding in banned(file)]
    assert not findings, "\n".join(findings)


def test_the_folders_do_not_import_the_facade() -> None:
    """Imports in the four folders are relative and stay among the four."""
    wrong: list[str] = []
    for file in python_files(*FOLDERS):
        depth = len(file.relative_to(ROOT).parts) - 1
        for node in ast.walk(parsed(file)):
            if not isinstance(node, ast.ImportFrom):
                continue
            if node.level == 0 and (node.module or "").partition(".")[0] == "eunoe":
                wrong.append(say(file, node.lineno, "imports eunoe by name: import relatively."))
            if node.level > depth:
                target = (node.module or node.names[0].name).partition(".")[0]
                if node.level > depth + 1 or target not in FOLDERS:
                    wrong.append(say(file, node.lineno, f"imports {target} of the façade."))
    assert not wrong, "\n".join(wrong)


def top_level(tree: ast.Module) -> tuple[set[str], set[str]]:
    """Return (all names bound at top level, the functions and classes among them)."""
    bound: set[str] = set()
    defined: set[str] = set()
    for node in ast.walk(ast.Module(_outside_definitions(tree.body), [])):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            defined.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            bound |= {(alias.asname or alias.name).partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            bound.add(node.id)
    return bound | defined, defined


def _outside_definitions(body: list[ast.stmt]) -> list[ast.stmt]:
    # A definition's own body binds nothing at top level.
    return [
        ast.ClassDef(node.name, [], [], [], [])
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        else node
        for node in body
    ]


def exported(tree: ast.Module) -> list[str] | None:
    """Return a module's `__all__`, or None where it has none."""
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            if any(dotted(target) == "__all__" for target in targets):
                names: list[str] = ast.literal_eval(node.value)
                return names
    return None


def test_every_module_says_what_it_exports() -> None:
    """`__all__` names every public function and class of the module, and nothing absent."""
    wrong: list[str] = []
    for file in product():
        bound, defined = top_level(parsed(file))
        names = exported(parsed(file))
        if names is None:
            if bound:
                wrong.append(say(file, 1, "has no __all__."))
            continue
        lazy = "__getattr__" in defined  # names that a package resolves at their first use
        public = {name for name in defined if not name.startswith("_")}
        if len(names) != len(set(names)):
            wrong.append(say(file, 1, "__all__ repeats a name."))
        if missing := public - set(names):
            wrong.append(say(file, 1, f"__all__ leaves out {', '.join(sorted(missing))}."))
        if (absent := set(names) - bound) and not lazy:
            wrong.append(say(file, 1, f"__all__ names {', '.join(sorted(absent))}: not there."))
    assert not wrong, "\n".join(wrong)


def test_every_test_says_its_property() -> None:
    """A test's docstring is the sentence that fails with it."""
    silent = [
        say(file, node.lineno, f"{node.name} has no docstring.")
        for file in python_files("tests")
        for node in ast.walk(parsed(file))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.name.startswith("test_")
        and not ast.get_docstring(node)
    ]
    assert not silent, "\n".join(silent)


def test_every_waiver_has_a_code_and_a_reason() -> None:
    """Switching a rule off for a line names the rule and says why."""
    waiver = re.compile(r"#\s*(noqa|type: ignore|pyright: ignore|pragma: no cover)\b")
    reasoned = re.compile(
        r"# noqa: [A-Z]+\d+(, ?[A-Z]+\d+)*( -|  #) \w.+"
        r"|# (type|pyright): ignore\[[\w-]+(, ?[\w-]+)*\]\s+# \w.+"
        r"|# pragma: no cover - \w.+"
    )
    bare = [
        say(file, number, "write `# noqa: CODE - reason` or `# type: ignore[code]  # reason`.")
        for file in python_files(*FOLDERS, "src", "tests", "benchmarks", "docs", "examples")
        if file != Path(__file__).resolve()
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        if waiver.search(line) and not reasoned.search(line)
    ]
    assert not bare, "\n".join(bare)


def test_the_changelog_keeps_its_form() -> None:
    """CHANGELOG.md follows Keep a Changelog: newest first, known kinds, ISO dates."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert text.startswith("# Changelog\n")
    releases = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert releases[0] == "[Unreleased]"
    for release in releases[1:]:
        assert re.fullmatch(r"\[\d+\.\d+\.\d+\] - \d{4}-\d{2}-\d{2}", release), release
    for change, body in re.findall(r"^### (.+)\n((?:(?!#).*\n?)*)", text, re.MULTILINE):
        assert change in CHANGES, change
        assert re.search(r"^- \S", body, re.MULTILINE), f"### {change} is empty"


def links(page: Path) -> Iterator[str]:
    """Yield the relative targets of a page's links, code left out."""
    text = re.sub(r"```.*?```|`[^`\n]*`", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)", text):
        if not re.match(r"[a-z]+:|#", target):
            yield target.partition("#")[0]


def test_every_link_in_the_documentation_resolves() -> None:
    """No page sends its reader to something that isn't there."""
    broken = [
        say(page, 0, f"links to {target}, which isn't there.")
        for page in every_file()
        if page.suffix == ".md"
        for target in links(page)
        if not (page.parent / target).exists()
    ]
    assert not broken, "\n".join(broken)


def test_the_map_lists_every_page() -> None:
    """docs/README.md links to each page in docs/, so that none is found by chance only."""
    docs = ROOT / "docs"
    listed = {(docs / target).resolve() for target in links(docs / "README.md")}
    pages = {page for page in every_file() if page.suffix == ".md" and docs in page.parents}
    missing = pages - listed - {docs / "README.md"}
    assert not missing, f"docs/README.md doesn't list {sorted(map(name_of, missing))}"


def test_nothing_names_a_private_place() -> None:
    """Files name no path of somebody's machine and no registry's host; the lock neither."""
    found: list[str] = []
    for file in every_file():
        if name_of(file) == ".ci/run" or file.suffix in BINARY:
            continue
        text = file.read_text(encoding="utf-8")
        if file.suffix in GO:
            text = GO_MODULE.sub("", text)
        found += [say(file, 0, f"mentions {word}.") for word in PRIVATE if word in text]
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    assert "://" not in lock, "requirements.lock names an address: write it with make lock"
    assert not found, "\n".join(found)


def test_the_json_schemas_are_current() -> None:
    """docs/schemas says what the models say; `make schemas` writes it."""
    generator = ROOT / "docs" / "schemas" / "generate.py"
    checked = subprocess.run(  # noqa: S603 - our own script, by our own interpreter
        [sys.executable, str(generator), "--check"], capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr
