from __future__ import annotations

from pathlib import Path

import pytest

from zapomni.settings import SETTINGS

PAGE = Path(__file__).parent.parent / "docs" / "settings.md"


def table() -> str:
    rows = ["| setting | variable | allowed | default | what it is |", "|---|---|---|---|---|"]
    for row in SETTINGS.values():
        default = "" if row.default in {None, "", ()} else f"`{str(row.default).lower()}`"
        mark = " (a project's file may set it)" if row.project else ""
        rows.append(f"| `{row.name}` | `{row.env}` | {row.form.allowed} | {default} | {row.doc}{mark} |")
    return "\n".join(rows)


@pytest.mark.promise("docs.true")
def test_the_page_of_settings_holds_every_setting_as_it_is() -> None:
    assert table() in PAGE.read_text(encoding="utf-8")
