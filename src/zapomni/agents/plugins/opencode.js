// zapomni: written by `zapomni setup opencode`, taken out again by `zapomni setup --remove opencode`.
// Gives the memory's pack to each session and what fits to each prompt; hands over what was said when a turn ends.
// It never stops OpenCode: whatever fails here is nothing to show.
import { spawn } from "node:child_process";

const [COMMAND, ...WORDS] = ["zapomni", "hook", "--client", "opencode"];
const LIMIT_MS = 10000;

function hook(event) {
  return new Promise((resolve) => {
    let answer = "";
    const child = spawn(COMMAND, WORDS, {
      stdio: ["pipe", "pipe", "ignore"],
      timeout: LIMIT_MS,
      windowsHide: true,
    });
    child.on("error", () => resolve(""));
    child.stdin.on("error", () => {});
    child.stdout.setEncoding("utf8");
    child.stdout.on("data", (piece) => (answer += piece));
    child.on("close", () => {
      try {
        resolve(JSON.parse(answer).additionalContext ?? "");
      } catch {
        resolve("");
      }
    });
    child.stdin.end(JSON.stringify(event));
  });
}

async function said(client, session) {
  try {
    const { data } = await client.session.messages({ path: { id: session } });
    return data.map(({ info, parts }) => ({
      role: info.role,
      id: info.id,
      at: String(info.time?.created ?? ""),
      text: parts.flatMap((part) => (part.type === "text" && !part.synthetic ? [part.text] : [])).join("\n"),
    }));
  } catch {
    return [];
  }
}

export const ZapomniPlugin = async ({ directory, client }) => {
  const packs = new Map(); // by session: what it was given at its start
  const found = new Map(); // by session: what fits its latest prompt
  const tell = (name, session, more) =>
    hook({ hook_event_name: name, session_id: session, cwd: directory, ...more });

  return {
    event: async ({ event }) => {
      const session = event.properties?.sessionID ?? event.properties?.info?.id ?? "";
      if (event.type === "session.idle") await tell("Stop", session, { messages: await said(client, session) });
      if (event.type === "session.compacted") packs.set(session, await tell("SessionStart", session, { source: "compact" }));
      if (event.type === "session.deleted") [packs, found].forEach((kept) => kept.delete(session));
    },
    "chat.message": async (input, output) => {
      const session = input.sessionID ?? "";
      const prompt = (output.parts ?? []).flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
      if (!packs.has(session)) packs.set(session, await tell("SessionStart", session, { source: "startup" }));
      found.set(session, await tell("UserPromptSubmit", session, { prompt }));
    },
    "experimental.chat.system.transform": async (input, output) => {
      for (const kept of [packs, found]) {
        const context = kept.get(input.sessionID ?? "");
        if (context) output.system.push(context);
      }
    },
  };
};
