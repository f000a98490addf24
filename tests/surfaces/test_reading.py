"""What comes out, through every surface alike: one table of scenarios, four drivers."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from tests.surfaces.drivers import SEEDED_AT, delete, list_, pages, recall, seed, show, stats, store, update

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.surfaces.drivers import Step

LONG = "Длинная запись о гавани. " * 200
SYNTAX = ("NOT", "AND OR NEAR", '"', "content:гавань", "гавань*", "(гавань", "-гавань", "' OR 1=1 --", "a^b {c} [d]")


SCENARIOS = [
    pytest.param(
        [
            store("В ангаре стоят новые ёмкости для воды."),
            store("Servers were migrated to the northern hangar."),
            recall("ЕМКОСТЬ", then={"count": 1, "contents": ["В ангаре стоят новые ёмкости для воды."]}),
            recall("новая ёмкость в ангарах", then={"count": 1}),
            recall("migrating a server", then={"contents": ["Servers were migrated to the northern hangar."]}),
            recall("балалайка", then={"count": 0}),
            recall("zebra crossing", then={"count": 0, "mode": "lexical"}),
        ],
        id="words are found in any form in both languages",
        marks=pytest.mark.promise("recall.words"),
    ),
    pytest.param(
        [
            store("Миграция ломает индекс orders.created_at, смотри PAY-1734."),
            store("The table of orders was created at noon and paid for."),
            recall("orders.created_at", limit=1, then={"count": 1}),
            recall("PAY-1734", then={"count": 1}),
            recall("created_at"),
            recall("1734", then={"count": 1}),
        ],
        id="identifiers are found whole and in parts",
        marks=pytest.mark.promise("recall.identifiers"),
    ),
    pytest.param(
        [store("Гавань закрыта на зиму."), *(recall(text) for text in SYNTAX)],
        id="nothing in a question is syntax",
        marks=pytest.mark.promise("recall.syntax"),
    ),
    pytest.param(
        [
            store("Код от ворот — слива.", save="a", scope="project:alpha", tags=["секрет"]),
            store("Код от ворот — груша.", scope="project:beta"),
            store("Код от ворот — вишня.", scope="team:gamma"),
            recall("код от ворот", scope="project:beta", then={"contents": ["Код от ворот — груша."]}),
            recall("код от ворот", scope=["project:alpha", "team:gamma"], then={"count": 2}),
            list_(scope="project:beta", then={"total": 1, "scopes": ["project:beta"]}),
            stats(scope="project:beta", then={"memories": 1, "tags": {}, "scopes": {"project:beta": 1}}),
            show("@a", scope="project:beta", then={"code": "not_found"}),
            update("@a", "взлом", scope="project:beta", then={"code": "not_found"}),
            delete("@a", scope="project:beta", then={"code": "not_found"}),
            show("@a", scope="all", then={"content": "Код от ворот — слива."}),
            recall("код от ворот", scope="team:gamma", then={"contents": ["Код от ворот — вишня."]}),
        ],
        id="a read sees its scopes alone",
        marks=pytest.mark.promise("scope.isolation"),
    ),
    pytest.param(
        [
            store("Есть такая команда.", scope="team:платформа"),
            recall(
                "команда", scope="team:платфома", then={"code": "not_found", "remedy": "Did you mean team:платформа?"}
            ),
            list_(scope="team:платформы", then={"code": "not_found", "remedy": "Did you mean team:платформа?"}),
            stats(scope="Team:платформа", then={"code": "invalid_input"}),
            list_(scope="платформа", then={"code": "invalid_input"}),
            store("Ещё одна.", scope="team:платформа2", then={"status": "created"}),
        ],
        id="an unknown scope is an error that suggests the nearest",
        marks=pytest.mark.promise("scope.unknown"),
    ),
    pytest.param(
        [
            store("Встреча в марте.", observed_at="2026-03-10T10:00:00+03:00"),
            store("Встреча в апреле.", observed_at="2026-04-01T00:00:00Z"),
            store("Встреча в мае.", observed_at="2026-05-05T05:05:05Z"),
            recall("встреча", since="2026-04-01T00:00Z", then={"count": 2}),
            recall("встреча", until="2026-04-01T00:00Z", then={"contents": ["Встреча в марте."]}),
            list_(since="2026-03-10T07:00:00Z", until="2026-03-10T07:00:01Z", then={"total": 1}),
            list_(since="2026-03-10T07:00:01Z", until="2026-04-01T00:00:00Z", then={"total": 0}),
            list_(on="2026-05", then={"contents": ["Встреча в мае."]}),
            list_(on="2026", then={"total": 3}),
            list_(since="2026-05-01", until="2026-04-01", then={"code": "invalid_input"}),
            recall("встреча", since="позавчера утром", then={"code": "invalid_input"}),
            stats(until="2026-04-15", then={"memories": 2}),
        ],
        id="bounds on time reach from since to before until",
        marks=pytest.mark.promise("time.days"),
    ),
    pytest.param(
        [
            store("Скидка закончилась.", valid_until="2026-01-01", save="a"),
            store("Скидка начнётся.", valid_from="2999-01-01"),
            store("Скидка действует."),
            recall("скидка", then={"contents": ["Скидка действует."]}),
            list_(then={"total": 1}),
            list_(expired=True, then={"total": 3}),
            list_(as_of="2025-12-31", then={"total": 2}),
            show("@a", then={"content": "Скидка закончилась."}),
        ],
        id="what holds no longer or not yet is left out",
    ),
    pytest.param(
        [
            store("Пески и ветер.", kind="episodic", tags=["Ветер", "юг"], path="a.b", importance=0.9, source="s"),
            store("Пески и волны.", kind="semantic", tags=["волны", "юг"], path="a.bc", about="reference"),
            store("Пески и дюны.", kind="semantic", entities=["Ада"], pinned=True, path="a.b.c"),
            list_(kind=["episodic"], then={"contents": ["Пески и ветер."]}),
            list_(tags=["ветер", "ВОЛНЫ"], then={"total": 2}),
            list_(all_tags=["юг", "волны"], then={"contents": ["Пески и волны."]}),
            list_(entities=["ада"], then={"contents": ["Пески и дюны."]}),
            list_(path="a.b", then={"contents": ["Пески и дюны.", "Пески и ветер."]}),
            list_(source="s", then={"contents": ["Пески и ветер."]}),
            list_(importance_from=0.8, then={"contents": ["Пески и ветер."]}),
            list_(pinned=True, then={"contents": ["Пески и дюны."]}),
            list_(pinned=False, then={"total": 2}),
            list_(about="reference", then={"contents": ["Пески и волны."]}),
            list_(trust=["disputed"], then={"total": 0}),
            recall("пески", tags=["юг"], kind=["semantic"], then={"contents": ["Пески и волны."]}),
            stats(tags=["юг"], then={"memories": 2, "kinds": {"episodic": 1, "semantic": 1}}),
        ],
        id="filters choose alike in every reading",
        marks=pytest.mark.promise("recall.filters"),
    ),
    pytest.param(
        [
            *(store(f"Запись о маяке номер {no}: " + "свет " * 40) for no in range(4)),
            store("Маяк погас."),
            recall("маяк", then={"count": 5}),
            recall("маяк", budget=25, then={"contents": ["Маяк погас."]}),
            recall("маяк", budget=1, then={"count": 0, "left_out": [f"<id {no}>" for no in (5, 4, 3, 2, 1)]}),
            recall("маяк", budget=250),
            recall("маяк", limit=2, then={"count": 2}),
            recall("маяк", limit=0, then={"code": "invalid_input"}),
            recall("маяк", limit=101, then={"code": "invalid_input"}),
        ],
        id="a budget is kept and what it left out is named",
        marks=pytest.mark.promise("recall.budget"),
    ),
    pytest.param(
        [
            seed(*({"id": f"{letter * 16}", "content": f"Лист {letter}."} for letter in "bcdfg")),
            seed({"id": "h" * 16, "content": "Лист h.", "created_at": SEEDED_AT + timedelta(seconds=1)}),
            *pages(3, 2),
            *pages(1, 6),
            list_(limit=0, then={"code": "invalid_input"}),
            list_(limit=1_001, then={"code": "invalid_input"}),
            list_(cursor="чужой", then={"code": "invalid_input"}),
        ],
        id="pages show each memory once and end even at equal times",
        marks=pytest.mark.promise("list.paging"),
    ),
    pytest.param(
        [
            store("Ключи у вахтёра.", tags=["вход"], kind="procedural"),
            store("Keys are with the guard.", tags=["вход", "guard"]),
            store("Лишнее.", save="c"),
            delete("@c"),
            stats(
                then={
                    "memories": 2,
                    "deleted": 1,
                    "kinds": {"procedural": 1, "semantic": 1},
                    "tags": {"guard": 1, "вход": 2},
                    "meaning": {"on": False, "waiting": 0},
                }
            ),
            stats(kind=["procedural"], then={"memories": 1}),
            list_(deleted=True, then={"total": 3}),
            list_(then={"total": 2}),
        ],
        id="statistics count what the filters let through",
    ),
    pytest.param(
        [
            store(LONG, save="a", title="Гавань"),
            show("@a", then={"content": LONG}),
            list_(then={"total": 1}),
            recall("гавань", then={"count": 1}),
            update("@a", "Короткая запись о гавани."),
            list_(then={"contents": ["Короткая запись о гавани."]}),
        ],
        id="a long text is cut in lists and whole by itself",
    ),
    pytest.param(
        [
            store("Мост разводят ночью.", importance=1.0),
            store("Мост красят летом.", importance=0.1),
            recall("когда разводят мост", explain=True, then={"count": 2}),
        ],
        id="a score is taken apart alike",
        marks=pytest.mark.promise("recall.explain"),
    ),
    pytest.param(
        [
            store("Лодка у причала."),
            recall("лодка", mode="semantic", then={"code": "unavailable"}),
            recall("лодка", strict=True, then={"code": "unavailable"}),
            recall("лодка", mode="lexical", then={"count": 1, "mode": "lexical"}),
            recall(
                "лодка",
                then={"mode": "lexical", "reason": "semantic search is switched off (embedder.provider = none)"},
            ),
            recall("  ", then={"code": "invalid_input"}),
            recall("\u200b", then={"count": 0, "reason": "nothing in the question can be seen"}),
        ],
        id="without vectors words answer and say so and strict is an error",
        marks=pytest.mark.promise("recall.degrades"),
    ),
]


@pytest.mark.parametrize("steps", SCENARIOS)
def test_every_surface_reads_as_the_library_does(
    alike: Callable[[Sequence[Step], str], None], steps: list[Step], request: pytest.FixtureRequest
) -> None:
    alike(steps, f"project:{request.node.callspec.id}")
