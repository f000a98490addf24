"""The protocol's side of the server: the SDK's low-level `Server` with our tools, resources and prompts.

The low-level server is taken because the high-level one checks arguments by pydantic and refuses a null or
a stringified number before a tool could read it as meant.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import anyio.from_thread
import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.lowlevel import Server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourceUpdated
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from zapomni import __version__
from zapomni.agents import rules
from zapomni.errors import NotFound, ZapomniError
from zapomni.surfaces.mcp import resources, wire
from zapomni.surfaces.mcp.answers import in_tool_words, with_notes
from zapomni.surfaces.mcp.calls import run_tool
from zapomni.surfaces.mcp.tools import BY_NAME, INSTRUCTIONS, offered
from zapomni.surfaces.serving import caller

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from mcp.server.context import ServerRequestContext
    from mcp.server.subscriptions import SubscriptionBus
    from mcp_types.methods import CacheableMethod

    from zapomni.model import Actor
    from zapomni.surfaces.serving import Served

Ctx: TypeAlias = "ServerRequestContext[Any, Any]"

_LEGACY_NOT_FOUND: Final = -32002
_HOUR_MS: Final = 3_600_000


def build_server(memory: Served) -> tuple[Server[Any], ListenHandler]:
    """Return the server, and the handler of listeners, which has to be closed before the server ends."""
    changes = InMemorySubscriptionBus()
    listeners = ListenHandler(changes)
    handlers = Handlers(memory, changes)
    server: Server[Any] = Server(
        "zapomni",
        version=__version__,
        title="zapomni",
        description="Durable memory for AI agents",
        instructions=INSTRUCTIONS,
        cache_hints=_cache_hints(),
        get_tool_input_schema=lambda name: BY_NAME[name].input_schema() if name in BY_NAME else None,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read_resource,
        on_list_prompts=handlers.list_prompts,
        on_get_prompt=handlers.get_prompt,
        on_subscriptions_listen=listeners,
    )
    return server, listeners


def _cache_hints() -> Mapping[CacheableMethod, CacheHint]:
    """Lists never change while a server runs; what is read from the memory may have changed at once."""
    lists = CacheHint(ttl_ms=_HOUR_MS, scope="private")
    return {
        "server/discover": lists,
        "tools/list": lists,
        "prompts/list": lists,
        "resources/list": lists,
        "resources/templates/list": lists,
        "resources/read": CacheHint(ttl_ms=0, scope="private"),
    }


class Handlers:
    """One method for each request of the protocol that asks for something of ours."""

    def __init__(self, memory: Served, changes: SubscriptionBus) -> None:
        self._memory = memory
        self._changes = changes

    async def list_tools(self, _: Ctx, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        """Return the tools of the profile that the settings name."""
        shown = offered(self._memory.app.config.mcp.tools)
        return types.ListToolsResult(tools=[types.Tool.model_validate(tool.definition()) for tool in shown])

    async def call_tool(self, ctx: Ctx, params: types.CallToolRequestParams) -> types.CallToolResult:
        """Run a tool on a thread; only an unknown name is an error of the protocol."""
        tool = BY_NAME.get(params.name)
        if tool is None:
            known = ", ".join(BY_NAME)
            raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {params.name}. There are {known}")
        act = partial(run_tool, name=params.name, raw=params.arguments, actor=actor_of(ctx), tell=_teller(ctx))
        answer = await self._memory.ask(act, writes=not tool.read_only)
        if halves := ((ctx.params or {}).get("_meta") or {}).get(wire.HALVES):
            answer = with_notes(answer, [f"{halves} half of a surrogate pair replaced by U+FFFD"], [])
        if not (tool.read_only or answer.failed):
            await self._changes.publish(ResourceUpdated(uri=resources.RECENT))
        return types.CallToolResult(
            content=[types.TextContent(type="text", text=answer.text)],
            structured_content=answer.shape,
            is_error=answer.failed,
        )

    async def list_resources(self, _: Ctx, __: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
        """Return the resource of recent memories."""
        recent = types.Resource(
            uri=resources.RECENT,
            name="recent",
            title="Recent memories",
            description="The newest memories of the default scopes",
            mime_type=resources.MIME,
        )
        return types.ListResourcesResult(resources=[recent])

    async def list_templates(
        self, _: Ctx, __: types.PaginatedRequestParams | None
    ) -> types.ListResourceTemplatesResult:
        """Return the template of one memory."""
        one = types.ResourceTemplate(
            uri_template=resources.ONE,
            name="memory",
            title="One memory",
            description="A memory whole, by its id or a unique beginning of it",
            mime_type=resources.MIME,
        )
        return types.ListResourceTemplatesResult(resource_templates=[one])

    async def read_resource(self, ctx: Ctx, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        """Return a resource as text; an unknown one is the error that the client's revision asks for."""
        try:
            text = await self._memory.ask(partial(resources.read, uri=params.uri))
        except NotFound as error:
            modern = ctx.protocol_version in MODERN_PROTOCOL_VERSIONS
            code = types.INVALID_PARAMS if modern else _LEGACY_NOT_FOUND
            raise MCPError(code, in_tool_words(str(error)), {"uri": params.uri}) from error
        except ZapomniError as error:
            raise MCPError(types.INTERNAL_ERROR, in_tool_words(str(error)), {"uri": params.uri}) from error
        contents = types.TextResourceContents(uri=params.uri, mime_type=resources.MIME, text=text)
        return types.ReadResourceResult(contents=[contents])

    async def list_prompts(self, _: Ctx, __: types.PaginatedRequestParams | None) -> types.ListPromptsResult:
        """Return the ready rules."""
        language = types.PromptArgument(name=rules.LANGUAGE, description="en or ru; en if left out", required=False)
        return types.ListPromptsResult(
            prompts=[
                types.Prompt(name=name, title=rule.title, description=rule.about, arguments=[language])
                for name, rule in rules.RULES.items()
            ]
        )

    async def get_prompt(self, _: Ctx, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        """Return one rule as a message of the user."""
        try:
            text = rules.rule_text(params.name, (params.arguments or {}).get(rules.LANGUAGE))
        except ZapomniError as error:
            raise MCPError(types.INVALID_PARAMS, str(error)) from error
        message = types.PromptMessage(role="user", content=types.TextContent(type="text", text=text))
        return types.GetPromptResult(description=rules.RULES[params.name].about, messages=[message])


def _teller(ctx: Ctx) -> Callable[[str], None]:
    """Return what tells the client on the way to an answer; one that named no progress token is told nothing."""
    return lambda words: anyio.from_thread.run(ctx.session.report_progress, 0.5, 1.0, words)


def actor_of(ctx: Ctx) -> Actor:
    """Return who calls, as the history names it: `mcp:` and the client's own name, where it says one.

    A client of the older revisions says it in its handshake alone, which HTTP without sessions does not
    keep; the first word of its User-Agent then stands for it.
    """
    params = ctx.session.client_params
    name = params.client_info.name if params is not None else ""
    if not name and ctx.request is not None:
        name = ctx.request.headers.get("user-agent", "").partition("/")[0]
    return caller("mcp", name)
