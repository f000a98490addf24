"""Settings files as people leave them, made up by hypothesis: every layout that is valid, comments everywhere."""

from __future__ import annotations

import json

from hypothesis import strategies as st

NAMES = st.sampled_from(["a", "b c", "mcpServers", "hooks", "servers", "Stop", "other", "ключ", 'q"', "", "extensions"])
WORDS = st.text(st.sampled_from("ab я\"\\{}[]:,#/*'\t="), max_size=6)
SCALARS = st.one_of(st.none(), st.booleans(), st.integers(-5, 5), st.floats(-2, 2, width=16), WORDS)
COMMENTS = st.sampled_from(["// one", "/* two */", "/* three\n lines */", '// {"zapomni": [}', "/**/", "// конец"])
ENDS = st.sampled_from(["\n", "\r\n"])


# --- JSON with comments ---------------------------------------------------------------------------------
@st.composite
def trivia(draw: st.DrawFn) -> str:
    pieces = draw(st.lists(st.one_of(st.sampled_from([" ", "\n", "\n  ", "\t", ""]), COMMENTS), max_size=3))
    return "".join(piece + ("\n" if piece.startswith("//") else "") for piece in pieces)


@st.composite
def values(draw: st.DrawFn, depth: int = 0) -> str:
    kind = draw(st.sampled_from(["scalar", "object", "list"] if depth < 3 else ["scalar"]))
    if kind == "object":
        return draw(objects(depth))
    if kind == "list":
        items = draw(st.lists(values(depth + 1), max_size=3))
        return _container(draw, "[]", items)
    return json.dumps(draw(SCALARS), ensure_ascii=draw(st.booleans()))


@st.composite
def objects(draw: st.DrawFn, depth: int = 0) -> str:
    names = draw(st.lists(NAMES, max_size=3, unique=True))
    members = []
    for name in names:
        inner = {"mcpServers": objects(depth + 1), "Stop": _lists(depth + 1), "hooks": objects(depth + 1)}
        value = draw(inner.get(name, values(depth + 1)))
        members.append(f"{json.dumps(name)}{draw(trivia())}:{draw(trivia())}{value}")
    return _container(draw, "{}", members)


@st.composite
def _lists(draw: st.DrawFn, depth: int) -> str:
    return _container(draw, "[]", draw(st.lists(values(depth), max_size=2)))


def _container(draw: st.DrawFn, marks: str, items: list[str]) -> str:
    text = marks[0] + draw(trivia())
    for number, item in enumerate(items):
        last = number == len(items) - 1
        text += item + draw(trivia()) + ("" if last and draw(st.booleans()) else ",") + draw(trivia())
    return text + marks[1]


@st.composite
def jsonc(draw: st.DrawFn) -> str:
    kind = draw(st.sampled_from(["blank", "object", "object", "object", "object"]))
    text = draw(trivia()) if kind == "blank" else draw(trivia()) + draw(objects()) + draw(trivia())
    return text.replace("\n", draw(ENDS))


# --- TOML -----------------------------------------------------------------------------------------------
_TOML_VALUES = st.sampled_from(
    [
        "1", "true", "'x'", '"q \\" # ["', '"""\n[mcp_servers.zapomni]\n"""', "'''\n# '' [a]\n'''", "[1, [2,\n3], # c\n]",
        "[\n[1],\n[2]]", "{ a = 1, b = [2] }", "1979-05-27T07:32:00Z", '""""quoted""""',
    ]
)  # fmt: skip
_TOML_LINES = st.sampled_from(["", "# c", "# [mcp_servers.zapomni]", "   ", "\t# ключ"])


@st.composite
def toml(draw: st.DrawFn) -> str:
    lines: list[str] = []
    tables = draw(st.permutations(["", "mcp_servers.x", "mcp_servers", '"a b".c', "[many]", "profiles"]))
    for number, table in enumerate(["", *[t for t in tables if t][: draw(st.integers(0, 4))]]):
        lines += draw(st.lists(_TOML_LINES, max_size=2))
        if table:
            lines.append(draw(st.sampled_from(["", "  "])) + f"[{table}]" + draw(st.sampled_from(["", " # c"])))
        for key in draw(st.lists(st.sampled_from(["k", '"d.e"', "f.g", "ключ2"][:3]), max_size=2, unique=True)):
            lines.append(f"{key}{number} = " if key[0] != '"' else f'"h.{number}" = ')
            lines[-1] += draw(_TOML_VALUES) + draw(st.sampled_from(["", "  # c"]))
    lines += draw(st.lists(_TOML_LINES, max_size=3))
    return _ended(draw, "\n".join(lines))


# --- YAML -----------------------------------------------------------------------------------------------
_YAML_VALUES = st.sampled_from(
    [
        "1", "true", "'it''s'", '"q: \\" #"', "plain words", "[a, {b: c}]", "{}", "", "~", "|\n{i}text\n{i}  deeper\n", ">-\n{i}fold",
        "|+\n{i}keep\n\n", "2001-01-01", "\n{i}k: v\n{i}l: # c\n{i}  - 1\n{i}  - x: y",
    ]
)  # fmt: skip


@st.composite
def yaml(draw: st.DrawFn) -> str:
    text = draw(st.sampled_from(["", "# head\n", "---\n", "%YAML 1.1\n---\n", "# extensions:\n\n"]))
    for key in draw(st.lists(st.sampled_from(["GOOSE_MODEL", "extensions", "slash", "'q'"]), max_size=3, unique=True)):
        text += draw(st.sampled_from(["", "# c\n", "\n"]))
        if key == "extensions":
            text += draw(_extensions())
        else:
            text += f"{key}: " + draw(_YAML_VALUES).replace("{i}", "  ") + draw(st.sampled_from(["\n", "\n", "\n\n"]))
    text += draw(st.sampled_from(["", "# tail\n", "\n", "...\n"]))
    return _ended(draw, text)


@st.composite
def _extensions(draw: st.DrawFn) -> str:
    flow = draw(st.sampled_from(["", "{}", "{dev: {enabled: true}}", "{ a: b, }", "~"]))
    names = draw(st.lists(st.sampled_from(["dev", "z-other", "'тест'"]), max_size=2, unique=True))
    if flow or not names:
        return f"extensions: {flow}" + draw(st.sampled_from(["\n", " # c\n"]))
    indent = " " * draw(st.integers(1, 4))
    text = "extensions:" + draw(st.sampled_from(["\n", "  # c\n", "\n\n"]))
    for name in names:
        text += draw(st.sampled_from(["", f"{indent}# about\n", "# out\n"]))
        value = draw(_YAML_VALUES).replace("{i}", indent * 2)
        text += f"{indent}{name}: {value}".rstrip("\n") + "\n"
    return text


# --- Markdown -------------------------------------------------------------------------------------------
@st.composite
def markdown(draw: st.DrawFn) -> str:
    lines = st.sampled_from(["", "# Title", "- point", "<!-- zapomni -->", "текст", "   ", "```"])
    return _ended(draw, "\n".join(draw(st.lists(lines, max_size=6))))


def _ended(draw: st.DrawFn, text: str) -> str:
    text = text.removesuffix("\n") if draw(st.booleans()) else text + draw(st.sampled_from(["", "\n", "\n\n"]))
    return text.replace("\n", draw(ENDS))
