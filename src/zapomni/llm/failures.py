"""What each failure of a provider is called, and whether trying again may help.

A client's own words may quote what was sent, the key too: only kinds, statuses and codes are told.
"""

from __future__ import annotations

import logging
import re
from typing import TYPE_CHECKING

from zapomni.errors import ModelError

if TYPE_CHECKING:
    from zapomni.settings import LlmSettings


class Again(ModelError):
    """Trying again may help."""


def _is_foreign(record: logging.LogRecord) -> bool:
    return not str(getattr(record, "stamina.caused_by", "")).startswith(f"{Again.__name__}(")


logging.getLogger("stamina").addFilter(_is_foreign)  # our retries are told by the error alone


def failure(error: Exception, label: str, settings: LlmSettings) -> ModelError:
    """Return what an exception of a client means for the model of this label."""
    if isinstance(error, ModelError):
        return error
    if isinstance(error, ImportError):
        remedy = "Install it with `pip install 'zapomni[llm]'` (for Bedrock `'zapomni[bedrock]'`)"
        return ModelError(f"{label} needs a package that is not installed", remedy=remedy, permanent=True)
    return _passing(error, label, settings) or _lasting(error, label, settings)


def names_a_cause(error: Exception) -> bool:
    """Tell whether a refused request was refused for something else than the form of its reply."""
    from pydantic_ai import exceptions as failed

    causes = (failed.ModelAuthenticationError, failed.ModelNotFoundError, failed.ModelContextWindowExceededError)
    return isinstance(error, causes)


def _passing(error: Exception, label: str, settings: LlmSettings) -> Again | None:
    """Return a failure that may be over soon, None for any other."""
    from pydantic_ai import exceptions as failed

    if isinstance(error, (failed.ModelRequestTimeout, failed.ModelTimeoutError)):
        late = f"{label} did not answer within {settings.timeout_s:g} s"
        return Again(late, remedy="Try again, or raise llm.timeout_s")
    if isinstance(error, failed.ModelConnectionError):
        away = f"{label} could not be reached ({type(error.__cause__ or error).__name__})"
        return Again(away, remedy="Check llm.base_url and that the provider runs there")
    if isinstance(error, (failed.ModelRateLimitError, failed.ModelUnavailableError, failed.ModelServerError)):
        return Again(f"{label} answered {_status(error)}", remedy="Try again later", retry_after=error.retry_after)
    return None


def _lasting(error: Exception, label: str, settings: LlmSettings) -> ModelError:
    """Return a failure that the same request will meet again."""
    from pydantic_ai import exceptions as failed

    said = f"{label} answered {_status(error)}"
    if isinstance(error, failed.ModelAuthenticationError):
        remedy = "Check llm.api_key" if settings.api_key else "Set llm.api_key"
        return ModelError(f"{said}: it refuses the key", remedy=remedy, permanent=True)
    if isinstance(error, failed.ModelNotFoundError):
        remedy = "Check llm.model and llm.base_url; an Ollama model must be pulled first"
        return ModelError(f"{said}: it has no such model", remedy=remedy, permanent=True)
    if isinstance(error, failed.ModelQuotaExceededError):
        used_up = f"{said}: the account's credit is used up"
        return ModelError(used_up, remedy="Top it up at the provider", permanent=True)
    if isinstance(error, failed.ModelContextWindowExceededError):
        remedy = "Name a model in llm.model that takes more"
        return ModelError(f"{said}: the task is too long for this model", remedy=remedy)
    if isinstance(error, failed.ModelAPIError):
        return ModelError(f"{said}: it does not take this task", remedy="Check llm.model and llm.base_url")
    problem = f"{label} could not be asked or understood ({type(error).__name__})"
    return ModelError(problem, remedy="Check llm.model and llm.base_url, and for Bedrock the AWS settings")


def _status(error: Exception) -> str:
    """Return the status with the provider's own code, which cannot quote what was sent."""
    code = getattr(error, "provider_error_code", None) or getattr(error, "provider_error_type", None)
    shown = f" ({code})" if isinstance(code, str) and re.fullmatch(r"[A-Za-z_]{3,40}", code) else ""
    return f"{getattr(error, 'status_code', 'with an error')}{shown}"
