"""Small trees of files, and the guard before them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from zapomni.files.guard import PathGuard, Root
from zapomni.files.names import real_path
from zapomni.files.rules import Rules
from zapomni.files.sight import Sight
from zapomni.files.tree import Tree

if TYPE_CHECKING:
    from pathlib import Path

SECRET = "TOP-SECRET-7F3A"


def guard_of(*roots: Root, rules: Rules | None = None) -> PathGuard:
    sights = {root.name: Sight(Tree(real_path(root.path)), rules or Rules.of()) for root in roots}
    return PathGuard(roots, lambda name, path, is_dir: sights[name].verdict(path, is_dir=is_dir) is None)


def put(path: Path, text: str = "text\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def make_vault(home: Path) -> Path:
    vault = home / "vault"
    for name in ["ok.md", "docs/deep/a.md", "docs/файл ё.md", "docs/cafe\u0301.md", "docs/caf\u00e9s.md"]:
        put(vault / name, f"open text of {name}\n")
    for name in [".env", ".git/config", "private/p.md", "node_modules/m/readme.md", "id_rsa"]:
        put(vault / name, f"{SECRET} {name}\n")
    put(vault / ".gitignore", "private/\n")
    put(home / "outside/secret.txt", f"{SECRET}\n")
    put(home / "vault-evil/ok.md", f"{SECRET}\n")
    links = {
        "link.md": "../outside/secret.txt",
        "dirlink": "../outside",
        "evil": "../vault-evil",
        "loop": ".",
        "self.md": "self.md",
        "dangling.md": "nothing-here.md",
        "inner.md": "ok.md",
        "innerdir": "docs/deep",
        "envlink.md": ".env",
        "around.md": "../vault/ok.md",
        "absolute.md": str(home / "outside/secret.txt"),
    }
    for name, target in links.items():
        (vault / name).symlink_to(target)
    return vault
