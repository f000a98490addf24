"""Whether the clients of this machine really remember: how each is wired, whether it trusts our hooks, and a proof.

The proof fires events through the very command that stands in a client's files, into a memory that is made for it and
gone afterwards: what one session decides must be kept, and the next one must be told it.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import tempfile
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct
from msgspec.structs import replace

from zapomni.agents.base import Part
from zapomni.agents.edits import State
from zapomni.model.session import Event, Moment
from zapomni.surfaces.dialects import DIALECTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from zapomni.agents.base import Launch, Machine
    from zapomni.agents.look import Look

WAIT_S: Final = 30
"""How long a hook, or the server of Codex, may take to be looked at."""
_SAID: Final = "We decided to call the test of the hooks a blue heron in the harbour."
_TRUSTED: Final = frozenset({"trusted", "managed"})


class Proof(Struct, frozen=True, kw_only=True):
    """What became of a decision told to a client's hook: kept, told to the next session, and how long that took.

    `recalled` is None where no hook of the client can tell anything; `problem` says what went wrong.
    """

    captured: bool
    recalled: bool | None
    ms: float
    problem: str = ""


class Health(Struct, frozen=True, kw_only=True):
    """One client: how it stands, whether the server it starts answers, whether it trusts our hooks, their proof.

    `reachable` is None where the client holds no server of ours, `trusted` where it does not ask about hooks.
    """

    look: Look
    reachable: bool | None = None
    trusted: bool | None = None
    proof: Proof | None = None

    @property
    def wired(self) -> bool:
        """Whether it holds our hooks."""
        return self.look.state(Part.HOOKS) is State.WIRED

    @property
    def ok(self) -> bool:
        """Whether nothing is to be done: not wired is no fault, wired in vain is one."""
        proven = self.proof is None or (self.proof.captured and self.proof.recalled is not False)
        return not self.look.twice and (not self.wired or (False not in {self.trusted, self.reachable} and proven))


def health(look: Look, launch: Launch, machine: Machine) -> Health:
    """Look at one client; hooks are fired for those that hold ours."""
    served = look.state(Part.SERVER) is State.WIRED
    reachable = answers_hello(launch, machine.environ) if served else None
    if look.state(Part.HOOKS) is not State.WIRED or launch.client not in DIALECTS:
        return Health(look=look, reachable=reachable)
    trusted = codex_trusts(machine, Path.cwd()) if launch.client == "codex" else None
    return Health(look=look, reachable=reachable, trusted=trusted, proof=prove(launch, machine.environ))


def prove(launch: Launch, environ: Mapping[str, str]) -> Proof:
    """Fire the end of one session and the start of another through the hook command of a client."""
    dialect = DIALECTS[launch.client]
    names = {moment: name for name, moment in reversed(list(dialect.events.items()))}
    with tempfile.TemporaryDirectory(prefix="zapomni-doctor-") as folder:
        apart = {"ZAPOMNI_HOME": f"{folder}/memory"}
        launch = replace(launch, environment={**launch.environment, **apart})  # its command may name the folder itself
        here = {**environ, **apart, "ZAPOMNI_SCOPE": "user", "ZAPOMNI_HOOK": ""}
        begin = perf_counter()
        try:
            _fire(launch, here, folder, names[Moment.STOP], "one")
            kept = _kept(folder)
            told = _fire(launch, here, folder, names[Moment.START], "two") if Moment.START in names else ""
        except (OSError, subprocess.SubprocessError) as error:
            return Proof(captured=False, recalled=None, ms=1e3 * (perf_counter() - begin), problem=str(error))
        silent = Moment.START not in names or _SAID not in dialect.answer(Event(launch.client, Moment.START), _SAID)
        return Proof(captured=kept, recalled=None if silent else _SAID in told, ms=1e3 * (perf_counter() - begin))


def _fire(launch: Launch, environ: Mapping[str, str], folder: str, event: str, session: str) -> str:
    """Run the hook with an event that holds every client's spelling of the same fields."""
    said = {"last_assistant_message": _SAID, "prompt_response": _SAID, "response": _SAID}
    names = dict.fromkeys(("hook_event_name", "hookEventName", "hookName", "agent_action_name"), event)
    ids = dict.fromkeys(("session_id", "sessionId", "conversation_id", "taskId", "trajectory_id", "threadID"), session)
    payload = {**names, **ids, **(said if session == "one" else {}), "cwd": folder, "source": "startup"}
    words = shlex.split(launch.hook, posix=not launch.windows)
    done = subprocess.run(
        words, input=json.dumps(payload).encode(), capture_output=True, check=True, timeout=WAIT_S, env=dict(environ)
    )
    return done.stdout.decode("utf-8", "replace")


def _kept(folder: str) -> bool:
    from zapomni.opening import open_memory

    with open_memory(f"{folder}/memory", scope="user") as app:
        return any(memory.content == _SAID for memory in app.list().memories)


def answers_hello(launch: Launch, environ: Mapping[str, str]) -> bool:
    """Start the server as a client does, over a memory that is gone afterwards, and tell whether it shakes hands."""
    client = {"name": "doctor", "version": "1"}
    params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": client}
    hello = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}).encode() + b"\n"
    with tempfile.TemporaryDirectory(prefix="zapomni-doctor-") as folder:
        here = {**environ, "ZAPOMNI_HOME": f"{folder}/memory"}
        try:
            done = subprocess.run(
                launch.server, input=hello, capture_output=True, check=False, timeout=WAIT_S, env=here
            )
        except (OSError, subprocess.SubprocessError):
            return False
    return b'"serverInfo"' in done.stdout


def codex_trusts(machine: Machine, folder: Path) -> bool | None:
    """Ask the app server of Codex whether it trusts every hook of ours; None where it cannot be asked."""
    program = machine.program("codex")
    if program is None:
        return None
    asked: Sequence[Mapping[str, Any]] = (
        {"id": 1, "method": "initialize", "params": {"clientInfo": {"name": "zapomni", "version": "1"}}},
        {"method": "initialized"},
        {"id": 2, "method": "hooks/list", "params": {"cwds": [str(folder)]}},
    )
    lines = "".join(json.dumps(message) + "\n" for message in asked)
    command = [program, "app-server"]
    pipe, quiet = subprocess.PIPE, subprocess.DEVNULL
    environ = dict(machine.environ)
    try:
        with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=quiet, text=True, env=environ) as server:
            return _trust_in(server, lines)
    except (OSError, ValueError):
        return None


def _trust_in(server: subprocess.Popen[str], lines: str) -> bool | None:
    from threading import Timer

    assert server.stdin is not None
    assert server.stdout is not None
    limit = Timer(WAIT_S, server.kill)
    limit.start()
    try:
        server.stdin.write(lines)
        server.stdin.flush()
        for line in server.stdout:
            answer = json.loads(line)
            if answer.get("id") == 2:  # noqa: PLR2004 - the number under which the hooks were asked for
                hooks = [hook for row in answer["result"]["data"] for hook in row["hooks"]]
                ours = [hook for hook in hooks if "hook --client codex" in str(hook.get("command"))]
                return all(hook.get("trustStatus") in _TRUSTED for hook in ours) if ours else None
    except (KeyError, TypeError):
        return None
    finally:
        limit.cancel()
        server.kill()
    return None
