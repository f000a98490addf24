"""The files of a history at one of its moments: which memory lies where, and what git calls the whole of it."""

from __future__ import annotations

from stat import S_IFDIR, S_IFREG
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from unicodedata import normalize

from dulwich.objects import Blob, Tree

from zapomni.exchange.git_notes import note_of
from zapomni.record import read_scope
from zapomni.text.filenames import file_name
from zapomni.text.notes import slug

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from dulwich.objects import ObjectID, ShaFile

    from zapomni.model import Scope

_FILE: Final = S_IFREG | 0o644
_MARK: Final = 6
"""Letters of an id that tell two memories of one name apart."""
_NAMED: Final = 60
"""Letters of the text after which a memory without a title or description is called."""

Objects = list["ShaFile"]


class _Place(NamedTuple):
    """Where a memory lies: the folders, the name that it asked for and the one it got."""

    folders: tuple[str, ...]
    wanted: str
    name: str


class _Folder:
    """A folder with what git calls it, worked out again only after a change."""

    def __init__(self) -> None:
        self.folders: dict[str, _Folder] = {}
        self.files: dict[str, ObjectID] = {}
        self.tree: ObjectID | None = None

    def written(self, made: Objects) -> ObjectID:
        if self.tree is None:
            tree = Tree()
            for name, folder in self.folders.items():
                tree.add(name.encode(), S_IFDIR, folder.written(made))
            for name, blob in self.files.items():
                tree.add(name.encode(), _FILE, blob)
            made.append(tree)
            self.tree = tree.id
        return self.tree


class Files:
    """Every memory of some scopes (none named: of all) as a file `SCOPE/TOPIC/PATH/NAME.md`.

    Where a memory lies follows from the revisions before it alone, so that the same history always gives the same
    files. No two names differ by letter case alone.
    """

    def __init__(self, scopes: Collection[Scope]) -> None:
        self._scopes = scopes
        self._root = _Folder()
        self._places: dict[str, _Place] = {}
        self._taken: dict[tuple[tuple[str, ...], str], str] = {}
        self._spelled: dict[tuple[tuple[str, ...], str], str] = {}
        self._named: dict[Scope, str] = {}
        self.made: Objects = []
        """What git has to keep and has not been handed yet."""

    def apply(self, memory_id: str, record: Mapping[str, Any]) -> str:
        """Bring a memory's file to what a revision left, and return its path, or the one it had; empty for none."""
        before = self._places.pop(memory_id, None)
        if before is not None:
            self._remove(before)
        if not self._is_shown(record):
            return _path(before) if before is not None else ""
        place = self._places[memory_id] = self._place(memory_id, record, before)
        blob = Blob.from_string(note_of(record, place.name.removesuffix(".md")).encode("utf-8", "backslashreplace"))
        self.made.append(blob)
        self._folder(place.folders).files[place.name] = blob.id
        return _path(place)

    def tree(self) -> ObjectID:
        """Return what git calls the files as they are now."""
        return self._root.written(self.made)

    def _is_shown(self, record: Mapping[str, Any]) -> bool:
        if record.get("deleted_at") is not None:
            return False
        scope = read_scope(record["scope"])
        return not scope.branch and (not self._scopes or scope in self._scopes)

    def _place(self, memory_id: str, record: Mapping[str, Any], before: _Place | None) -> _Place:
        folders = self._folders(record)
        wanted = slug(_called(record), memory_id)
        if before is not None and (before.folders, before.wanted) == (folders, wanted):
            name = before.name
        else:
            names = (f"{wanted}.md", f"{wanted}-{memory_id[:_MARK]}.md", f"{wanted}-{memory_id}.md")
            name = next(name for name in names if (folders, name.casefold()) not in self._taken)
        self._taken[folders, name.casefold()] = memory_id
        return _Place(folders, wanted, name)

    def _folders(self, record: Mapping[str, Any]) -> tuple[str, ...]:
        scope = read_scope(record["scope"])
        folders = (scope.kind.value, self._scope_name(scope)) if scope.name else (scope.kind.value,)
        for part in (record.get("path") or "").split("."):
            if part.strip():
                name = file_name(part)
                folders = (*folders, self._spelled.setdefault((folders, name.casefold()), name))
        return folders

    def _scope_name(self, scope: Scope) -> str:
        """Return the folder of a scope; of two that a system may take for one, the later is numbered."""
        if scope not in self._named:
            taken = {name.casefold() for other, name in self._named.items() if other.kind is scope.kind}
            name, no = file_name(scope.name), 2
            while name.casefold() in taken:
                name, no = f"{file_name(scope.name)}-{no}", no + 1
            self._named[scope] = name
        return self._named[scope]

    def _folder(self, folders: tuple[str, ...]) -> _Folder:
        """Return a folder, made where it is new, with all above it marked as changed."""
        found = self._root
        found.tree = None
        for name in folders:
            found = found.folders.setdefault(name, _Folder())
            found.tree = None
        return found

    def _remove(self, place: _Place) -> None:
        del self._taken[place.folders, place.name.casefold()]
        way = [self._root]
        for name in place.folders:
            way.append(way[-1].folders[name])
        del way[-1].files[place.name]
        for folder in way:
            folder.tree = None
        for above, name in zip(way[-2::-1], reversed(place.folders), strict=True):
            if not (above.folders[name].files or above.folders[name].folders):
                del above.folders[name]


def _called(record: Mapping[str, Any]) -> str:
    named = record.get("title") or record.get("description")
    return normalize("NFC", str(named or record["content"].strip().partition("\n")[0][:_NAMED]))


def _path(place: _Place) -> str:
    return "/".join((*place.folders, place.name))
