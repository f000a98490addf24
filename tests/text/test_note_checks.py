"""Weak descriptions and dates that time has overtaken, in Russian and in English."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zapomni.text.note_checks import stale_dates, weakness

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


@pytest.mark.promise("vault.weak")
@pytest.mark.parametrize(
    ("name", "description"),
    [
        ("memory-architecture", "архитектура памяти"),
        ("deploy", ""),
        ("deploy", "…"),
        ("release-owner", "Release owners"),
        ("правила-выкатки", "Правило выкатки"),
        ("billing", "Billing notes"),
    ],
)
def test_a_description_that_is_a_title_is_weak(name, description):
    assert weakness(name, description)


@pytest.mark.promise("vault.weak")
@pytest.mark.parametrize(
    ("name", "description"),
    [
        ("memory", "почему мы не берём вектор-БД для памяти агента, порог пересмотра"),
        ("tabs-not-spaces", "Indent with tabs in this repo"),
        ("release-owner", "Who signs releases"),
        ("дежурство", "кто дежурит"),
        ("ship", "Ship on Friday?"),
    ],
)
def test_a_description_that_somebody_would_ask_is_not(name, description):
    assert weakness(name, description) is None


@pytest.mark.promise("vault.stale")
@pytest.mark.parametrize(
    "body",
    [
        "We ship tomorrow.",
        "Решили вчера на созвоне",
        "The key was rotated two weeks ago",
        "Релиз на следующей неделе.",
        "The release will go out on 2026-05-01.",
        "Договор действует, срок до 01.03.2026",
        "Выкатка запланирована на 1 мая 2026.",
        "Deadline: March 2025",
        "Freeze until 15 June 2026",
    ],
)
def test_a_date_that_time_has_overtaken_is_found(body):
    (found,) = stale_dates(f"First line.\n{body}", NOW, UTC)
    assert found.line == 2


@pytest.mark.promise("vault.stale")
@pytest.mark.parametrize(
    "body",
    [
        "Irina signs releases (since 2026-10-01).",
        "The release will go out on 2027-05-01.",
        "Подписан 1 мая 2026 года.",
        "It was signed by Irina on 2026-05-01.",
        "Run `make test` before each release, it will take 5 minutes.",
        "Ключ истекает через 30 дней.",
        "План на 2027: до 1 мая 2027 будет выпуск",
    ],
)
def test_other_dates_are_not(body):
    assert list(stale_dates(body, NOW, UTC)) == []


@given(st.text(max_size=300), st.text(max_size=300))
def test_no_text_breaks_the_checks(name, body):
    weakness(name, body)
    for found in stale_dates(body, NOW, UTC):
        assert 1 <= found.line <= len(body.splitlines())
