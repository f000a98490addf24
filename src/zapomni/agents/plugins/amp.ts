// zapomni: written by `zapomni setup amp`, taken out again by `zapomni setup --remove amp`.
// Hands over what was said when a turn ends. It never stops Amp: whatever fails here is passed over.
import { spawn } from "node:child_process";

const [COMMAND, ...WORDS] = ["zapomni", "hook", "--client", "amp"];
const LIMIT_MS = 10000;

function hook(event: object): Promise<void> {
  return new Promise((resolve) => {
    const child = spawn(COMMAND, WORDS, {
      stdio: ["pipe", "ignore", "ignore"],
      timeout: LIMIT_MS,
      windowsHide: true,
    });
    child.on("error", () => resolve());
    child.on("close", () => resolve());
    child.stdin.on("error", () => {});
    child.stdin.end(JSON.stringify(event));
  });
}

export default function (amp: any) {
  amp.on("session.start", async (event: any) => {
    await hook({ hook_event_name: "SessionStart", cwd: process.cwd(), event });
  });
  amp.on("agent.end", async (event: any) => {
    await hook({ hook_event_name: "Stop", cwd: process.cwd(), event });
  });
}
