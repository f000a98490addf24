"""Documents, through every surface alike: one table of scenarios, four drivers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.surfaces.drivers import attach, detach, recall, scan, search, sources, status, store, write

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.surfaces.drivers import Step

INTRO = "Введение о том о сём. " * 90
LONG = "Страница о гавани и кораблях. " * 60
OFF = "semantic search is switched off (embedder.provider = none)"
MANY = "яблоко груша слива вишня черешня абрикос персик айва хурма инжир гранат лимон апельсин"
"""Words that nothing holds: what else is asked for is too small a part of the question to be an answer."""

SCENARIOS = [
    pytest.param(
        [
            write("a/release.md", f"# Релизы\n\n{INTRO}\n\n## Пятница\n\nПо пятницам выкатка запрещена.\n"),
            write("a/adr/0001.md", "# Use SQLite\n\nBackups of one file are simple.\n"),
            attach("~/a", then={"added": 2, "reason": None}),
            search("запрещены ли выкатки", then={"count": 1, "places": ["~/a/release.md:5"], "reason": OFF}),
            search("backup of a file", then={"places": ["~/a/adr/0001.md:1"]}),
            search("балалайка", then={"count": 0, "mode": "lexical"}),
            search("\u200b", then={"count": 0, "reason": "nothing in the question can be seen"}),
            search("backup AND NOT", limit=1, then={"count": 1}),
        ],
        id="words of a document are found in both languages and cited by line",
        marks=pytest.mark.promise("documents.cited"),
    ),
    pytest.param(
        [
            write("b/guide.md", "---\ntags: [Порт, юг]\n---\n# Гавань\n\nМаяк у гавани.\n"),
            write("b/adr/0001.md", "# Маяк\n\nРешили: маяк горит всегда.\n"),
            write("b2/notes.md", "# Notes\n\nМаяк и ветер.\n"),
            attach("~/b"),
            attach("~/b2", then={"added": 1}),
            search("маяк", then={"count": 3}),
            search("маяк", kind=["adr"], then={"places": ["~/b/adr/0001.md:1"]}),
            search("маяк", tags=["порт"], then={"places": ["~/b/guide.md:4"]}),
            search("маяк", path="adr", then={"places": ["~/b/adr/0001.md:1"]}),
            search("маяк", source=["~/b2"], then={"places": ["~/b2/notes.md:1"]}),
            search("маяк", limit=2, then={"count": 2}),
            search("маяк", explain=True, then={"count": 3}),
            search("маяк", source=["~/b3"], then={"code": "not_found"}),
            search("маяк", limit=0, then={"code": "invalid_input"}),
            search("  ", then={"code": "invalid_input"}),
        ],
        id="filters choose places in documents alike",
        marks=pytest.mark.promise("recall.filters"),
    ),
    pytest.param(
        [
            write("c/a.md", "# Код\n\nКод от ворот — слива.\n"),
            attach("~/c", scope="project:alpha-docs"),
            search("код от ворот", then={"code": "not_found"}),
            store("Здесь есть и память."),
            search("код от ворот", then={"count": 0}),
            search("код от ворот", scope="project:alpha-docs", then={"places": ["~/c/a.md:1"]}),
            search("код от ворот", scope="team:никто", then={"code": "not_found"}),
            scan("~/c", then={"code": "not_found"}),
            recall("код от ворот", with_docs=True, then={"count": 0, "places": []}),
        ],
        id="documents are seen in the scope of their source alone",
        marks=pytest.mark.promise("documents.scoped"),
    ),
    pytest.param(
        [
            write("d/one.md", "# Один\n\nПервая страница о паромах.\n"),
            write("d/.env", "KEY=1\n"),
            attach("~/d", then={"added": 1, "skipped": [{"path": ".env", "reason": "it may hold secrets"}]}),
            write("d/two.md", "# Два\n\nВторая страница о паромах.\n"),
            scan(then={"added": 1, "unchanged": 1}),
            search("паромы", then={"count": 2}),
            write("d/two.md", "# Два\n\nТеперь о баржах и буксирах.\n"),
            scan("~/d", then={"changed": 1, "unchanged": 1}),
            search("паромы", then={"places": ["~/d/one.md:1"]}),
            search("буксир", then={"places": ["~/d/two.md:1"]}),
            write("d/two.md"),
            scan(then={"removed": 1, "unchanged": 1}),
            search("буксир", then={"count": 0}),
            sources(then={"count": 1, "root": "~/d"}),
            status(then={"documents": 1, "kinds": {"docs": 1}}),
            detach("~/d", then={"documents": 1}),
            search("паромы", then={"count": 0}),
            scan(then={"count": 0}),
        ],
        id="a scan brings the index to what the files say",
        marks=pytest.mark.promise("documents.fresh"),
    ),
    pytest.param(
        [
            *(write(f"e/{no}.md", f"# Лист {no}\n\nБумага о верфи номер {no}.\n") for no in range(6)),
            attach("~/e", then={"added": 6}),
            *(write(f"e/{no}.md") for no in range(6)),
            scan(
                then={
                    "removed": 0,
                    "problem": "6 of 6 files are gone; nothing was removed, for the folder may be away for a while",
                }
            ),
            search("верфь", then={"count": 6}),
        ],
        id="a folder that is suddenly empty takes nothing out of the index",
        marks=pytest.mark.promise("documents.safe_removal"),
    ),
    pytest.param(
        [
            write("f/a.md", f"# Порт\n\nПорт закрыт на зиму.\n\n{LONG}\n"),
            attach("~/f"),
            store("Порт закрыт на ремонт."),
            recall("порт закрыт", then={"count": 1}),
            recall("порт закрыт", with_docs=True, then={"count": 2, "places": ["~/f/a.md:1"]}),
            recall("порт закрыт", with_docs=True, limit=1),
            search("гавань", then={"count": 1}),
        ],
        id="memories and documents are recalled together where both are asked for",
    ),
]


SCENARIOS += [
    pytest.param(
        [
            store("Шхуна стоит в доке.", kind="working"),
            store("Старая шхуна утонула.", valid_until="2020-01-01"),
            recall(
                "а где же каравелла?",
                explain=True,
                then={
                    "words": ["каравелл"],
                    "passed_over": ["а", "где", "же"],
                    "by_words": 0,
                    "by_meaning": 0,
                    "judged": 0,
                    "nearest": None,
                    "without": {},
                },
            ),
            recall("каравелла", then={"count": 0, "explanations": None}),
            recall("шхуна", explain=True, then={"count": 1, "explanations": None}),
            recall("шхуна", explain=True, kind="episodic", then={"count": 0, "without": {"other": 1}}),
            recall("утонула", explain=True, then={"seen": 1, "without": {"time": 1}}),
            recall(
                "утонула", explain=True, since="2999-01-01", tags=["нет"], then={"seen": 0, "without": {"every": 1}}
            ),
            recall("the schooner", explain=True, then={"words": ["schooner"], "passed_over": ["the"]}),
            recall(f"шхуна {MANY}", explain=True, then={"by_words": 1, "judged": 1, "count": 0}),
            recall("\u200b", explain=True, then={"count": 0, "explanations": None}),
        ],
        id="an empty recall says why",
        marks=pytest.mark.promise("recall.nothing"),
    ),
    pytest.param(
        [
            write("g/a.md", "# Бриг\n\nБриг ушёл на юг.\n"),
            attach("~/g"),
            search("где фрегат?", explain=True, then={"of": "documents", "words": ["фрегат"], "passed_over": ["где"]}),
            search("бриг", explain=True, kind=["adr"], then={"count": 0, "without": {"other": 1}}),
            search("бриг", explain=True, then={"count": 1, "explanations": None}),
            search(f"бриг {MANY}", explain=True, then={"by_words": 1, "judged": 1, "count": 0}),
            search(f"бриг {MANY}", then={"count": 0, "explanations": None}),
            recall("фрегат", explain=True, with_docs=True, then={"count": 0, "of": "documents", "words": ["фрегат"]}),
            recall("бриг", explain=True, with_docs=True, then={"count": 1, "explanations": None}),
        ],
        id="an empty search in documents says why",
        marks=pytest.mark.promise("recall.nothing"),
    ),
]


@pytest.mark.parametrize("steps", SCENARIOS)
def test_every_surface_answers_about_documents_as_the_library_does(
    alike: Callable[[Sequence[Step], str], None], steps: list[Step], request: pytest.FixtureRequest
) -> None:
    alike(steps, f"project:{request.node.callspec.id}")
