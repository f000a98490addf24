import pytest

from zapomni.text.nearest import nearest


@pytest.mark.parametrize(
    ("name", "known", "found"),
    [
        ("project:shp", ["project:shop", "project:blog", "user"], ["project:shop"]),
        ("project:Shop", ["project:shop"], ["project:shop"]),
        ("project:alpha", ["team:alpha", "project:beta"], ["team:alpha"]),
        ("отчёт", ["склад", "отчеты"], ["отчеты"]),
        ("user", ["project:x"], []),
        ("project:zzz", ["project:shop"], []),
        ("x", [], []),
    ],
)
def test_close_names_are_offered_and_far_ones_not(name: str, known: list[str], found: list[str]) -> None:
    assert nearest(name, known) == found


def test_the_closest_come_first_and_not_too_many() -> None:
    assert nearest("backend", ["backends", "backend2x", "backend", "back", "bakend"], limit=2) == [
        "backend",
        "backends",
    ]
