"""What the tests of models share: a key that must show nowhere, a schema, and settings."""

from __future__ import annotations

from zapomni.forms import Secret
from zapomni.settings import LlmSettings

KEY = "sk-trial-KEY-123"
SCHEMA = {
    "type": "object",
    "properties": {"summary": {"type": "string"}, "importance": {"type": "number", "minimum": 0, "maximum": 1}},
    "required": ["summary"],
    "additionalProperties": False,
}


class OutOfBounds(BaseException):
    """A test tried to reach another machine; nothing may take it for a failing provider."""


def settings(provider, url=None, key=KEY, name="m", **values):
    secret = Secret(key) if key else None
    return LlmSettings(model=f"{provider}:{name}", base_url=url, api_key=secret, **{"timeout_s": 5.0, **values})
