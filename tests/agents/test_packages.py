"""The ready packages: they are what the code writes, and keep to the limits that their formats document."""

from __future__ import annotations

import io
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest
import yaml

from zapomni import __version__
from zapomni.surfaces.cli.packages import REGISTRY_NAME, bundle, packages, write

ROOT = Path(__file__).parents[2]
PLUGIN = ROOT / "packages" / "claude-code"


def said(path: str) -> Any:
    return json.loads((ROOT / path).read_text(encoding="utf-8"))


@pytest.mark.promise("setup.packages")
@pytest.mark.parametrize("path", packages())
def test_a_package_in_the_repository_is_what_the_code_writes(path: str) -> None:
    assert (ROOT / path).read_text(encoding="utf-8") == packages()[path], (
        "run `python -m zapomni.surfaces.cli.packages`"
    )


@pytest.mark.promise("setup.packages")
def test_the_marketplace_leads_to_the_plugin() -> None:
    market = said(".claude-plugin/marketplace.json")
    (entry,) = market["plugins"]
    assert (ROOT / entry["source"]).resolve() == PLUGIN
    plugin = json.loads((PLUGIN / ".claude-plugin" / "plugin.json").read_text())
    assert plugin["name"] == entry["name"] == "zapomni"
    assert plugin["version"] == __version__
    assert re.fullmatch(r"[a-z0-9-]+", market["name"])


@pytest.mark.promise("setup.packages")
def test_the_plugin_starts_the_server_and_the_hooks_of_setup() -> None:
    server = json.loads((PLUGIN / ".mcp.json").read_text())["mcpServers"]["zapomni"]
    assert [server["command"], *server["args"]] == ["zapomni", "serve"]
    assert server["env"] == {"ZAPOMNI_AGENT": "claude-code"}
    hooked = json.loads((PLUGIN / "hooks" / "hooks.json").read_text())["hooks"]
    assert set(hooked) == {"SessionStart", "UserPromptSubmit", "PreCompact", "Stop", "SessionEnd"}
    for (group,) in hooked.values():
        (handler,) = group["hooks"]
        assert handler["command"] == "zapomni hook --client claude-code"
        assert 1 <= handler["timeout"] <= 60, "the whole time of a session's end"


@pytest.mark.promise("setup.packages")
def test_the_skill_keeps_to_the_standard_of_agent_skills() -> None:
    file = PLUGIN / "skills" / "zapomni" / "SKILL.md"
    _, head, body = file.read_text(encoding="utf-8").split("---\n", 2)
    fields = yaml.safe_load(head)
    assert set(fields) <= {"name", "description", "license", "compatibility", "metadata", "allowed-tools"}
    assert fields["name"] == file.parent.name
    assert re.fullmatch(r"[a-z0-9]+(?:-[a-z0-9]+)*", fields["name"])
    assert len(fields["name"]) <= 64
    assert 1 <= len(fields["description"]) <= 1_024
    assert len(fields["compatibility"]) <= 500
    assert len(body.splitlines()) <= 500
    for heading in ("Recall", "Save", "Consolidate", "Tidy"):
        assert f"## {heading}" in body


@pytest.mark.promise("setup.packages")
def test_the_registry_knows_us_by_the_name_that_the_readme_proves() -> None:
    entry = said("server.json")
    assert f"mcp-name: {REGISTRY_NAME}" in (ROOT / "README.md").read_text(encoding="utf-8")
    assert entry["name"] == REGISTRY_NAME
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", entry["name"])
    assert 1 <= len(entry["description"]) <= 100
    assert entry["version"] == entry["packages"][0]["version"] == __version__
    assert entry["packages"][0]["registryType"] == "pypi"


@pytest.mark.promise("setup.packages")
def test_the_bundle_holds_its_manifest_and_what_it_starts(tmp_path: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(bundle())) as archive:
        manifest = json.loads(archive.read("manifest.json"))
        assert manifest["server"]["entry_point"] in archive.namelist()
        assert f'"zapomni=={__version__}"' in archive.read("pyproject.toml").decode()
    assert {"manifest_version", "name", "version", "description", "author", "server"} <= set(manifest)
    assert manifest["server"]["type"] in {"python", "node", "binary", "uv"}
    assert bundle() == bundle()
    assert any(file.suffix == ".mcpb" for file in write(tmp_path))
