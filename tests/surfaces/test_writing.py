"""What goes in, through every surface alike: one table of scenarios, four drivers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.surfaces.drivers import (
    PLACE,
    delete,
    history,
    list_,
    recall,
    seed,
    show,
    stats,
    store,
    undo,
    update,
)

from zapomni.model import Origin, Trust

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.surfaces.drivers import Step

FRIDAY = "По пятницам релизы запрещены: до понедельника дежурит один человек."
RULE = "Нельзя пушить в main без ревью."
CAPTURED = "it was captured and not reviewed; it is confirmed now"
CONCLUDED = "it was concluded and not reviewed; it is confirmed now"
TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
"""Put together from pieces, so that no scanner takes this file for a leak."""
FIELDS = {
    "kind": "procedural",
    "title": "Пятница",
    "description": "Можно ли выкатывать перед выходными?",
    "about": "project",
    "path": "process.deploy",
    "tags": ["a,b", "Срочно"],
    "entities": ["Ада", "ООО «Лес»"],
    "importance": 0.9,
    "pinned": True,
    "source": "handbook.md",
    "position": 3,
    "key": "friday",
    "observed_at": "2026-01-02T03:04:05+03:00",
    "valid_from": "2026-01-01T00:00Z",
    "valid_until": "2999-01-01T00:00Z",
    "metadata": {"команда": "платформа"},
}

SCENARIOS = [
    pytest.param(
        [
            store(FRIDAY, save="a", then={"status": "created", "version": 1}, **FIELDS),
            show("@a", then={"content": FRIDAY, "tags": ["a,b", "Срочно"], "position": 3, "key": "friday"}),
            list_(then={"total": 1, "next": None, "contents": [FRIDAY]}),
            recall("релиз в пятницу", then={"mode": "lexical", "contents": [FRIDAY]}),
            history("@a", then={"verbs": ["create"]}),
        ],
        id="a memory comes back with every field that it was given",
    ),
    pytest.param(
        [
            store(text, save="a") if step == "in" else show("@a", then={"content": text})
            for text in (
                "Ёлка  в холле:\n\tкуплена у ООО «Северный Лес» 🎄 ",
                "e\u0301 stays decomposed, é stays composed; İ, ﬁ, ½, 👩‍👩‍👧 and 中文",
                '--json "quoted" \\ back\\\\slashes $HOME `ls` %s {x}',
                "<script>alert('x')</script> ' OR 1=1; --",
            )
            for step in ("in", "out")
        ],
        id="content is kept code point by code point",
        marks=pytest.mark.promise("write.verbatim"),
    ),
    pytest.param(
        [
            store("Кофе — в Шкафу, у «ё\u0308лки» é.", save="a"),
            store("кофе  — в шкафу,\nу «ё\u0308лки» e\u0301.", then={"status": "duplicate", "version": 1}),
            store("Кофе — в Шкафу, у «ё\u0308лки» é.", tags=["кухня"], then={"status": "duplicate"}),
            store("Кофе — в Шкафу, у «ё\u0308лки» é.", scope="agent:twin", then={"status": "created"}),
            list_(then={"total": 1}),
            delete("@a", then={"status": "deleted"}),
            store("Кофе — в Шкафу, у «ё\u0308лки» é.", then={"status": "created"}),
        ],
        id="the same text is stored once in a scope",
        marks=pytest.mark.promise("write.duplicate"),
    ),
    pytest.param(
        [
            store("We never deploy on Friday: the on-call engineer is alone until Monday.", save="a"),
            store("We never deploy on Friday: the on-call engineer is alone till Monday.", then={"alike": ["<id 1>"]}),
            store("По пятницам релизы запрещены: до понедельника дежурит один инженер."),
            store("По пятницам релизы запрещены, до понедельника дежурит один!", then={"alike": ["<id 3>"]}),
            store("We never deploy on Friday: the on-call engineer is alone, said Ada.", scope="agent:similar"),
            list_(then={"total": 4}),
        ],
        id="near duplicates are reported with their ids",
        marks=pytest.mark.promise("write.similar"),
    ),
    pytest.param(
        [
            store(
                f"The token is {TOKEN}.",
                title=f"token {TOKEN}",
                metadata={"token": TOKEN},
                save="a",
                then={
                    "status": "created",
                    "redactions": [
                        {"field": "content", "rule": "github"},
                        {"field": "title", "rule": "github"},
                        {"field": "metadata", "rule": "github"},
                    ],
                },
            ),
            show("@a"),
            store("Пароль подключения: postgres://app:hunter22@db.local:5432/x", save="b"),
            show("@b"),
            update("@b", f"Теперь {TOKEN}", then={"redactions": [{"field": "content", "rule": "github"}]}),
            show("@b"),
            recall("hunter22", then={"count": 0}),
            recall(TOKEN, then={"count": 0}),
        ],
        id="secrets are cut out and each cut is reported",
        marks=pytest.mark.promise("write.redaction"),
    ),
    pytest.param(
        [
            store("The gate opens at seven.", key="gate", save="a", then={"status": "created"}),
            store("The gate opens at seven.", key="gate", then={"status": "duplicate"}),
            store("Ворота открывают в восемь.", key="gate", title="Ворота", then={"status": "updated", "version": 2}),
            show("@a", then={"content": "Ворота открывают в восемь.", "title": "Ворота"}),
            store("Ворота открывают в девять.", key="gate", scope="agent:key", then={"status": "created"}),
            delete("@a"),
            store("Ворота открывают в десять.", key="gate", then={"status": "updated", "version": 4}),
            show("@a", then={"content": "Ворота открывают в десять.", "deleted_at": None}),
            list_(then={"total": 1}),
        ],
        id="the same key means the same memory",
        marks=pytest.mark.promise("write.key"),
    ),
    pytest.param(
        [
            store("Первый вариант.", save="a"),
            update("@a", "Второй вариант.", version=1, then={"status": "updated", "version": 2}),
            update("@a", "Потерянная правка.", version=1, then={"code": "conflict", "contents": ["Второй вариант."]}),
            show("@a", then={"content": "Второй вариант.", "version": 2}),
            update("@a", "Второй вариант.", then={"status": "unchanged", "version": 2}),
            update("@a", "Третий вариант.", version=2, then={"status": "updated", "version": 3}),
        ],
        id="a lost update is an error that shows the text as it is",
        marks=pytest.mark.promise("write.version"),
    ),
    pytest.param(
        [
            store(FRIDAY, save="a", tags=["b", "a,b", "Релиз"], entities=["Ada"], title="t", metadata={"x": "1"}),
            update("@a", tags=["один, два"], then={"status": "updated"}),
            show("@a", then={"tags": ["один, два"], "entities": ["Ada"]}),
            update("@a", tags=["none"], entities=["Боб", "Ада"], title="none", metadata={"x": "", "y": "2"}),
            show("@a", then={"tags": [], "entities": ["Боб", "Ада"], "title": "", "metadata": {"y": "2"}}),
            update("@a", kind="episodic", importance=0.25, observed_at="2026-05-04T00:00Z", path="a.b"),
            show("@a", then={"kind": "episodic", "importance": 0.25, "path": "a.b"}),
            update("@a", observed_at="none", path="none", about="user"),
            show("@a", then={"observed_at": None, "path": None, "about": "user", "version": 5}),
            history("@a", then={"verbs": ["create", "update", "update", "update", "update"]}),
        ],
        id="lists are replaced whole, metadata is merged, and the word none empties a field",
    ),
    pytest.param(
        [
            store("Плитка в офисе зелёная.", save="a"),
            store("Другой текст.", save="b"),
            delete("@a", never="это неправда", then={"status": "deleted"}),
            store("плитка в  офисе зелёная.", then={"status": "refused", "id": ""}),
            update("@b", "Плитка в офисе зелёная.", then={"code": "refused"}),
            store("Плитка в офисе зелёная.", key="плитка", then={"status": "refused"}),
            list_(then={"contents": ["Другой текст."]}),
        ],
        id="a refused text is refused on every path",
        marks=pytest.mark.promise("write.rejection"),
    ),
    pytest.param(
        [
            store(" \n\t ", then={"code": "invalid_input"}),
            store("\u200b\u200b", then={"code": "invalid_input"}),
            store("Есть текст.", save="a"),
            update("@a", "\u200b\u2060", then={"code": "invalid_input"}),
            list_(then={"total": 1}),
            stats(then={"memories": 1}),
        ],
        id="blank content is refused and leaves no trace",
        marks=pytest.mark.promise("write.blank"),
    ),
    pytest.param(
        [
            store("Мера.", save="a"),
            store("я" * 100_001, then={"code": "invalid_input"}),
            store("x", title="т" * 201, then={"code": "invalid_input"}),
            store("x", description="d" * 1_001, then={"code": "invalid_input"}),
            store("x", tags=["t" * 201], then={"code": "invalid_input"}),
            store("x", tags=[f"t{no}" for no in range(101)], then={"code": "invalid_input"}),
            store("x", metadata={"x": "y" * 20_000}, then={"code": "invalid_input"}),
            store("x", importance=1.5, then={"code": "invalid_input"}),
            store("x", path="p" * 201, then={"code": "invalid_input"}),
            store("x", key="k" * 201, then={"code": "invalid_input"}),
            update("@a", "я" * 100_001, then={"code": "invalid_input"}),
            update("@a", title="т" * 201, then={"code": "invalid_input"}),
            recall("q" * 10_001, then={"code": "invalid_input"}),
            list_(then={"contents": ["Мера."]}),
            store("й" * 100_000, save="b", then={"status": "created"}),
            recall("q" * 10_000, then={"count": 0}),
        ],
        id="a value over its limit is refused and the limit itself is kept",
        marks=pytest.mark.promise("write.limits"),
    ),
    pytest.param(
        [
            store("x", observed_at="someday", then={"code": "invalid_input"}),
            store("x", valid_from="2026-02-01", valid_until="2026-01-01", then={"code": "invalid_input"}),
            store("x", scope="main", then={"code": "invalid_input"}),
            store("x", scope="project:", then={"code": "invalid_input"}),
            store("Здесь.", save="a"),
            update("@a", valid_until="когда-нибудь", then={"code": "invalid_input"}),
            update("@a", scope="team:нет такой", title="x", then={"code": "not_found"}),
            update("zzzz", "x", then={"code": "not_found"}),
            delete("zzzz", then={"code": "not_found"}),
            show("zzzz", then={"code": "not_found"}),
            show("@a", then={"version": 1}),
        ],
        id="what cannot be read is refused by name",
    ),
    pytest.param(
        [
            seed(
                {"id": "kbcd2345kbcd2345", "content": "Первая с общим началом."},
                {"id": "kbcd2345kbcd2346", "content": "Вторая с общим началом."},
                {"id": "kbcd2345", "content": "Третья, чьё имя — это начало."},
                {"id": "mmmm2345kbcd2345", "content": "Четвёртая одна."},
            ),
            show("kbcd", then={"code": "ambiguous", "matches": ["kbcd2345", "<id 1>", "<id 2>"]}),
            update("kbcd2345kbcd", "Что-то иное.", then={"code": "ambiguous"}),
            delete("kbcd", then={"code": "ambiguous"}),
            delete("kbcd2345kb", erase=True, then={"code": "ambiguous"}),
            undo("kbcd", then={"code": "ambiguous"}),
            history("kbcd", then={"code": "ambiguous"}),
            list_(then={"total": 4}),
            show("kbcd2345", then={"content": "Третья, чьё имя — это начало."}),
            show("mm", then={"content": "Четвёртая одна."}),
            update("m", "Четвёртая изменилась.", then={"status": "updated"}),
            delete("m", then={"status": "deleted"}),
            show("m", then={"code": "not_found"}),
            show("%", then={"code": "not_found"}),
            show("_bcd", then={"code": "not_found"}),
        ],
        id="a unique beginning of an id is enough and an ambiguous one changes nothing",
        marks=pytest.mark.promise("id.prefix"),
    ),
    pytest.param(
        [
            store("Как было.", save="a", tags=["x"]),
            update("@a", "Как стало.", tags=["y"]),
            undo("@a", then={"restored": ["<id 1>"], "skipped": []}),
            show("@a", then={"content": "Как было.", "tags": ["x"], "version": 3}),
            update("@a", "Как стало."),
            show("@a", then={"content": "Как стало."}),
            delete("@a"),
            show("@a", then={"code": "not_found"}),
            undo("@a"),
            show("@a", then={"content": "Как стало."}),
            recall("стало", then={"count": 1}),
            recall("было", then={"count": 0}),
            history("@a", then={"verbs": ["create", "update", "restore", "update", "delete", "restore"]}),
            store("Лишнее.", save="b"),
            undo("@b"),
            list_(then={"total": 1}),
        ],
        id="every change can be taken back one at a time",
        marks=pytest.mark.promise("history.undo"),
    ),
    pytest.param(
        [
            store("Адрес сейфа — улица Мира, 7.", save="a"),
            update("@a", "Адрес сейфа — улица Мира, 9."),
            delete("@a", erase=True, then={"status": "erased"}),
            show("@a", then={"code": "not_found"}),
            recall("сейф на улице Мира", then={"count": 0}),
            list_(deleted=True, then={"total": 0}),
            undo("@a", then={"code": "not_found"}),
            delete("@a", erase=True, then={"code": "not_found"}),
            store("Адрес сейфа — улица Мира, 7.", then={"status": "created"}),
        ],
        id="an erased memory is gone for good",
        marks=pytest.mark.promise("history.erase"),
    ),
    pytest.param(
        [
            store("Это перевезут.", save="a", scope="agent:from"),
            update("@a", scope="agent:from", move_to="agent:to", then={"status": "updated", "scope": "agent:to"}),
            show("@a", scope="agent:from", then={"code": "not_found"}),
            show("@a", scope="agent:to", then={"content": "Это перевезут."}),
            history("@a", scope="agent:to", then={"verbs": ["create", "update"]}),
        ],
        id="a memory moves to another scope",
    ),
    pytest.param(
        [
            seed({"id": "j" * 16, "content": RULE, "trust": Trust.CANDIDATE, "origin": Origin.SESSION}),
            update("j" * 16, tags=["ревью"], then={"status": "updated", "warnings": None}),
            show("j" * 16, then={"trust": "candidate", "version": 2}),
            store(RULE.upper(), then={"status": "updated", "id": "<id 1>", "warnings": [CAPTURED]}),
            show("j" * 16, then={"trust": "confirmed", "version": 3}),
            list_(then={"total": 1, "contents": [RULE]}),
            store(RULE, then={"status": "duplicate", "version": 3, "warnings": None}),
            history("j" * 16, then={"verbs": ["create", "update", "update"]}),
            undo("j" * 16),
            show("j" * 16, then={"trust": "candidate", "content": RULE}),
        ],
        id="a candidate that is stored by hand is confirmed, and undo takes that back",
        marks=pytest.mark.promise("capture.confirmed"),
    ),
    pytest.param(
        [
            seed(
                {"id": "k" * 16, "content": RULE, "trust": Trust.CANDIDATE, "origin": Origin.SESSION},
                {"id": "m" * 16, "content": FRIDAY, "trust": Trust.CANDIDATE, "origin": Origin.CONSOLIDATION},
            ),
            update("k" * 16, RULE, then={"status": "updated", "warnings": [CAPTURED]}),
            show("k" * 16, then={"trust": "confirmed", "content": RULE}),
            update("m" * 16, "Релизы по вторникам.", then={"status": "updated", "warnings": [CONCLUDED]}),
            update("m" * 16, "Релизы по средам.", then={"status": "updated", "warnings": None}),
            show("m" * 16, then={"trust": "confirmed", "content": "Релизы по средам."}),
            undo("k" * 16),
            show("k" * 16, then={"trust": "candidate"}),
        ],
        id="a candidate whose text is set by hand is confirmed",
        marks=pytest.mark.promise("capture.confirmed"),
    ),
    pytest.param(
        [
            seed(
                {"id": "n" * 16, "content": RULE, "trust": Trust.DISPUTED, "origin": Origin.SESSION},
                {"id": "p" * 16, "content": FRIDAY, "trust": Trust.SUPERSEDED, "origin": Origin.SESSION},
            ),
            store(RULE, then={"status": "duplicate", "warnings": None}),
            store(FRIDAY, then={"status": "duplicate", "warnings": None}),
            show("n" * 16, then={"trust": "disputed"}),
            show("p" * 16, then={"trust": "superseded"}),
            update("n" * 16, "Другое правило.", then={"status": "updated", "warnings": None}),
            show("n" * 16, then={"trust": "disputed"}),
        ],
        id="what is disputed or superseded is not confirmed by saying it again",
        marks=pytest.mark.promise("capture.confirmed"),
    ),
    pytest.param(
        [
            store("Здешняя заметка.", save="a", scope=PLACE, then={"scope": "<default>"}),
            recall("здешняя заметка", scope=PLACE, then={"scopes": ["<default>"]}),
            show("@a", scope=PLACE),
            update("@a", "Здешняя новая.", scope=PLACE, then={"scope": "<default>"}),
            list_(scope=PLACE, then={"total": 1, "scopes": ["<default>"]}),
            stats(scope=PLACE, then={"memories": 1, "writes_to": "<default>"}),
            delete("@a", scope=PLACE, then={"status": "deleted"}),
        ],
        id="where no scope is named the place decides",
        marks=pytest.mark.promise("scope.place"),
    ),
]


@pytest.mark.parametrize("steps", SCENARIOS)
def test_every_surface_writes_as_the_library_does(
    alike: Callable[[Sequence[Step], str], None], steps: list[Step], request: pytest.FixtureRequest
) -> None:
    alike(steps, f"project:{request.node.callspec.id}")
