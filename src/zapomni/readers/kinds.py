"""What kind of document a file is: by the folder it lies in, its name, and how its text is laid out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from zapomni.model.document import DocumentKind
from zapomni.readers.base import Layout
from zapomni.readers.titles import ending

if TYPE_CHECKING:
    from zapomni.readers.base import Extract

_NAMED: Final = (
    (DocumentKind.ADR, r"adrs?|decisions?|architecture[-_ ]decisions?|решения"),
    (DocumentKind.RFC, r"rfcs?|proposals?|peps?|предложения"),
    (DocumentKind.POSTMORTEM, r"post[-_ ]?mortems?|incidents?|outages?|инциденты?|постмортемы?"),
    (DocumentKind.RUNBOOK, r"runbooks?|playbooks?|sops?|регламенты?|инструкции"),
    (DocumentKind.CHANGELOG, r"changelogs?|changes|history|news|release[-_ ]?notes|releases|whats[-_ ]?new|изменения"),
)
"""Folder names, and beginnings of file names, in the order in which they are asked."""
_FOLDERS: Final = tuple((kind, re.compile(rf"(?:^|/)(?:{names})/", re.IGNORECASE)) for kind, names in _NAMED)
_FILES: Final = tuple((kind, re.compile(rf"(?:{names})(?![^\W\d_])", re.IGNORECASE)) for kind, names in _NAMED)
_NUMBERED: Final = re.compile(
    r"(?:^|\n)#{1,3} (?:status|статус)\b.*?\n#{1,3} (?:context|контекст)\b", re.IGNORECASE | re.DOTALL
)
"""The headings of a decision record as Nygard laid them out."""
_HEAD: Final = 2_000
_SETTINGS: Final = (".yaml", ".yml", ".toml", ".ini", ".cfg", ".conf", ".properties", ".json", ".xml")
_MACHINES: Final = (".tf", ".tfvars", ".hcl", ".dockerfile", ".gradle", ".cmake")
_CONFIG: Final = frozenset((*_SETTINGS, *_MACHINES))
_CONFIG_NAMES: Final = re.compile(r"dockerfile|makefile|jenkinsfile|vagrantfile|procfile|.*\.config\..*", re.IGNORECASE)


def kind_of(path: str, extract: Extract) -> DocumentKind:
    """Return the kind of a file by its path under the root and its text; what nothing is known of is `docs`."""
    name = path.rpartition("/")[2]
    if _CONFIG_NAMES.fullmatch(name) or ending(name) in _CONFIG:
        return DocumentKind.CONFIG
    if extract.layout is Layout.LINES:
        return DocumentKind.DATA if extract.format == "data" else DocumentKind.CODE
    for kind, pattern in _FILES:
        if pattern.match(name):
            return kind
    for kind, pattern in _FOLDERS:
        if pattern.search(path):
            return kind
    head = extract.text[extract.start : extract.start + _HEAD]
    return DocumentKind.ADR if _NUMBERED.search(head) else DocumentKind.DOCS
