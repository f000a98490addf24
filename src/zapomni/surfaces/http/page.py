"""The description of every route as one page for people: no script, no picture, nothing from another host."""

from __future__ import annotations

import json
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any, Final

from zapomni import __version__
from zapomni.surfaces.http.call import JSON
from zapomni.surfaces.http.examples import ANSWERS, BODIES
from zapomni.surfaces.http.table import CALLS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from zapomni.surfaces.http.call import Call

_HEAD: Final = """\
<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>zapomni: the HTTP API</title><style>
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
code,pre{font:14px/1.4 ui-monospace,monospace}pre{background:#8882;padding:.6rem;overflow:auto}
table{border-collapse:collapse}td{padding:.1rem 1rem .1rem 0;vertical-align:top}h2{margin:2rem 0 .2rem}
:root{color-scheme:light dark}</style>
"""
_ABOUT: Final = """\
<p>Every route but <code>/health</code> needs <code>Authorization: Bearer TOKEN</code>;
<code>zapomni serve --http</code> says at its start where the token lies. Bodies are JSON unless said otherwise.
<code>/openapi.json</code> says the same for programs, and every error has one shape.</p>
"""


@cache
def page() -> str:
    """Return the page."""
    links = "".join(f'<li><a href="#{call.name}"><code>{escape(_line(call))}</code></a></li>' for call in CALLS)
    sections = "".join("".join(_section(call)) for call in CALLS)
    return (
        f"{_HEAD}<h1>zapomni {escape(__version__)}</h1>{_ABOUT}<ul>{links}</ul>{sections}{_example(ANSWERS['Error'])}"
    )


def _section(call: Call) -> Iterator[str]:
    yield f'<h2 id="{call.name}">{escape(call.title)}</h2><p><code>{escape(_line(call))}</code></p>'
    if call.says:
        yield f"<p>{escape(call.says)}</p>"
    if call.query:
        yield _fields("Parameters", call.query, call.required)
    if call.takes != JSON:
        yield f"<p>Body: {escape(call.takes)}</p>"
    elif call.body:
        yield _fields("Body", call.body, call.required)
        yield _example(BODIES[call.name])
    if call.gives in ANSWERS:
        yield f"<p>Answer</p>{_example(ANSWERS[call.gives])}"


def _line(call: Call) -> str:
    return f"{call.method} {call.path}"


def _fields(title: str, fields: Any, required: tuple[str, ...]) -> str:
    rows = "".join(
        f"<tr><td><code>{escape(name)}</code><td>{escape(_type(schema))}"
        f"<td>{'required' if name in required else ''}<td>{escape(schema.get('description', ''))}</tr>"
        for name, schema in fields.items()
    )
    return f"<p>{title}</p><table>{rows}</table>"


def _type(schema: dict[str, Any]) -> str:
    one = schema.get("items", schema)
    word = ", ".join(one["enum"]) if "enum" in one else one["type"]
    return f"any of: {word}" if schema["type"] == "array" else word


def _example(value: Any) -> str:
    return f"<pre>{escape(json.dumps(value, ensure_ascii=False, indent=2))}</pre>"
