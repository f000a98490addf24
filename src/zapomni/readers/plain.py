"""Text as it is: prose, program code, and data whose lines are cited."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO, Final

from zapomni.readers.base import Extract, Layout
from zapomni.readers.decode import MEGABYTE, decode, take
from zapomni.readers.titles import ending, first_underlined, shown

if TYPE_CHECKING:
    from collections.abc import Collection

    from zapomni.readers.base import Reader

_PROSE: Final = frozenset({".txt", ".text", ".rst", ".adoc", ".asciidoc", ".org", ".tex", ".textile", ".wiki"})
_CODE: Final = frozenset({
    ".py", ".pyi", ".pyx", ".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".go", ".rs", ".java",
    ".kt", ".kts", ".scala", ".groovy", ".gradle", ".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp", ".m", ".mm",
    ".cs", ".fs", ".vb", ".rb", ".php", ".sh", ".bash", ".zsh", ".fish", ".ps1", ".psm1", ".bat", ".cmd", ".sql",
    ".lua", ".swift", ".dart", ".r", ".jl", ".pl", ".pm", ".ex", ".exs", ".erl", ".hrl", ".elm", ".hs", ".ml",
    ".mli", ".clj", ".cljs", ".edn", ".lisp", ".el", ".scm", ".nim", ".zig", ".v", ".sv", ".vhd", ".asm", ".s",
    ".f90", ".pas", ".proto", ".thrift", ".graphql", ".gql", ".tf", ".hcl", ".nix", ".dockerfile", ".mk", ".cmake",
    ".css", ".scss", ".sass", ".less", ".vue", ".svelte", ".astro", ".diff", ".patch", ".vim",
})  # fmt: skip
_CODE_NAMES: Final = frozenset({
    "makefile", "gnumakefile", "dockerfile", "containerfile", "jenkinsfile", "vagrantfile", "procfile", "gemfile",
    "rakefile", "justfile", "brewfile", "codeowners", ".gitignore", ".gitattributes", ".dockerignore",
    ".editorconfig",
})  # fmt: skip
_DATA: Final = frozenset({
    ".json", ".jsonl", ".ndjson", ".json5", ".jsonc", ".csv", ".tsv", ".yaml", ".yml", ".toml", ".ini", ".cfg",
    ".conf", ".properties", ".xml", ".xsd", ".log",
})  # fmt: skip
"""Not `.env`, which holds secrets, and not `.lock`, which a program writes for itself."""


class _Text:
    name = "text"
    version = 1
    endings: Collection[str] = _PROSE | _CODE
    limit = 10 * MEGABYTE

    def read(self, file: BinaryIO, name: str) -> Extract:
        decoded = decode(take(file, self.limit))
        lines = ending(name) in _CODE | _DATA or name.lower() in _CODE_NAMES or decoded.text.startswith("#!")
        heading = "" if lines else first_underlined(decoded.text)
        return Extract(
            text=decoded.text,
            format=self.name,
            layout=Layout.LINES if lines else Layout.PROSE,
            title=heading or shown(name),
            encoding=decoded.encoding,
            notes=decoded.notes,
        )


class _Data(_Text):
    name = "data"
    endings: Collection[str] = _DATA


TEXT: Final[Reader] = _Text()
"""Reads prose, code, and any text whose name tells nothing; prose is titled by its first underlined line."""
DATA: Final[Reader] = _Data()
"""Reads data as it is written, so that the lines of a citation are those of the file."""
