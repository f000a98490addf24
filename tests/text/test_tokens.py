import pytest
from hypothesis import given
from hypothesis import strategies as st

from zapomni.text.tokens import estimate_tokens

# Counted with o200k_base and cl100k_base (tiktoken-rs inside semantic-text-splitter 0.33.1).
SAMPLES = [
    (
        "Договорились с Мариной, что релиз бэкенда переносится на четверг из-за нагрузочного теста; счёт № 118 оплачен.",
        35,
        57,
    ),
    (
        "Отчёт по надёжности узла лежит в общей папке. Перед выкладкой всегда прогоняем миграции на копии базы, иначе откат занимает час.",
        38,
        63,
    ),
    (
        "We decided to move the release to Thursday, because the load test has not finished. Marina owns the runbook and the rollback plan.",
        27,
        27,
    ),
    (
        "Caroline: Hey Mel! Good to see you! How have you been? I went to a support group yesterday and it was so powerful.",
        29,
        29,
    ),
    (
        'def estimate(text: str) -> int:\n    near = text.encode("ascii", "ignore")\n    return len(near) // 4 + 1\n',
        33,
        33,
    ),
    (
        "Call refreshTokenVault() before silentSignOut; flag DEPOT_API_BASE=https://api.example.com/v2 wins over the file in eu-west-3b.",
        33,
        33,
    ),
    (
        "## Commands\n\n- `make test` runs **everything**\n- `make lint` runs ruff and mypy\n\n| a | b |\n|---|---|\n| 1 | 2 |\n",
        41,
        41,
    ),
    (
        "commit 9f3c2ab7d1e04c55a6b1f0d2e8c7714300aa91be, job 550e8400-e29b-41d4-a716-446655440000, 2026-03-29T12:00:00Z",
        68,
        68,
    ),
    ("我们决定把数据库从MySQL迁移到PostgreSQL，因为需要更好的全文搜索支持。", 21, 27),
]


@pytest.mark.parametrize(("text", "modern", "older"), SAMPLES)
def test_estimates_lie_close_to_real_tokenizers(text: str, modern: int, older: int) -> None:
    assert 0.85 * modern <= estimate_tokens(text) <= max(1.6 * modern, 1.15 * older)


def test_russian_costs_more_than_english_of_the_same_length() -> None:
    assert estimate_tokens("Договорились с Мариной о переносе") > 1.3 * estimate_tokens(
        "We agreed with Marina to move it!"
    )


def test_nothing_costs_nothing() -> None:
    assert estimate_tokens("") == 0
    assert estimate_tokens("a") == 1


@given(st.text(st.characters()), st.text(st.characters()))
def test_more_text_never_costs_less(one: str, other: str) -> None:
    assert estimate_tokens(one + " " + other) >= max(estimate_tokens(one), estimate_tokens(other))
