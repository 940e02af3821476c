"""The small programs that agents without hook files load: each only starts ``lessonbook hook`` and hands its text on.

They run inside the agent, so they swallow every error, bound every wait, and import nothing but what the agent's
runtime has itself.
"""

from __future__ import annotations

from lessonbook.core.value import Value
from lessonbook.hosts.agents.agent import PROMPT, SECONDS, SESSION_END, SESSION_START, STOP

TYPE_CHECKING = False
if TYPE_CHECKING:
    from lessonbook.actions.setup_entries import Wanted
    from lessonbook.hosts.agents.agent import Data

EVENTS = {event: event for event in (SESSION_START, PROMPT, STOP, SESSION_END)}
_HEAD = """\
// Written by `lessonbook setup`; `lessonbook setup --remove {agent}` takes it away. Changes by hand are kept, and then
// this file is no longer kept up to date.
import {{ spawn }} from "node:child_process";

const COMMAND = {command};
const ASK_AT_PROMPTS = {prompt};

// Runs one hook and returns its text; empty where there is none, it fails or takes too long.
function hook(event, data, seconds) {{
  return new Promise((resolve) => {{
    let out = "";
    let done = false;
    const end = (text) => {{ if (!done) {{ done = true; resolve(text); }} }};
    try {{
      const [program, ...words] = COMMAND;
      const stdio = ["pipe", "pipe", "ignore"];
      const child = spawn(program, [...words, "hook", event, "--agent", "{agent}"], {{ stdio }});
      const timer = setTimeout(() => {{ try {{ child.kill("SIGKILL"); }} catch {{}} end(""); }}, seconds * 1000);
      child.stdout.on("data", (part) => {{ out += part; }});
      child.on("error", () => {{ clearTimeout(timer); end(""); }});
      child.on("close", () => {{
        clearTimeout(timer);
        try {{ end(String(JSON.parse(out || "{{}}").text ?? "")); }} catch {{ end(""); }}
      }});
      child.stdin.on("error", () => {{}});
      child.stdin.end(JSON.stringify(data));
    }} catch {{ end(""); }}
  }});
}}
"""
_OPENCODE = """
export const Lessonbook = async ({ client, directory }) => {
  const briefings = new Map();   // the text of each session, asked for once so that its prompts stay cached
  const calls = new Map();       // calls of tools since the person's last words
  const broken = new Set();      // sessions whose turn was broken off
  const about = (session) => ({ session_id: session ?? "", cwd: directory, source: "startup" });
  const briefing = (session) => {
    const key = session ?? "";
    if (!briefings.has(key)) briefings.set(key, hook("session-start", about(session), %(start)d));
    return briefings.get(key);
  };
  return {
    "experimental.chat.system.transform": async (input, output) => {
      const text = await briefing(input?.sessionID);
      if (text) output.system.push(text);
    },
    "chat.message": async (input, output) => {
      if (output?.parts?.some((part) => part.text?.startsWith("[lessonbook reminder]"))) return;
      calls.set(input.sessionID, 0);
      broken.delete(input.sessionID);
      if (!ASK_AT_PROMPTS) return;
      const prompt = (output?.parts ?? []).map((part) => part.text ?? "").join("\\n");
      const text = await hook("prompt", { ...about(input.sessionID), prompt }, %(prompt)d);
      if (!text) return;
      const id = "prt_lessonbook" + Date.now().toString(36);
      const place = { id, sessionID: input.sessionID, messageID: output.message.id };
      output.parts.push({ ...place, type: "text", synthetic: true, text });
    },
    "tool.execute.after": async (input) => {
      calls.set(input.sessionID, (calls.get(input.sessionID) ?? 0) + 1);
    },
    event: async ({ event }) => {
      const session = event?.properties?.sessionID;
      if (!session) return;
      if (event.type === "session.error") broken.add(session);
      if (event.type !== "session.idle") return;
      await hook("session-end", about(session), %(end)d);
      const data = { ...about(session), tool_calls: calls.get(session) ?? 0, aborted: broken.has(session) };
      calls.set(session, 0);
      const text = await hook("stop", data, %(stop)d);
      if (!text) return;
      try {
        const parts = [{ type: "text", text, synthetic: true }];
        await client.session.prompt({ path: { id: session }, body: { parts } });
      } catch {}
    },
  };
};
"""
_PI = """
export default function (pi) {
  let briefed = "";
  let calls = 0;
  let nudged = false;
  const about = (ctx) => {
    let session = "", file = "", cwd = process.cwd();
    try { session = ctx.sessionManager.getSessionId() ?? ""; } catch {}
    try { file = ctx.sessionManager.getSessionFile() ?? ""; } catch {}
    try { cwd = ctx.cwd ?? cwd; } catch {}
    return { session_id: session, transcript_path: file, cwd, source: "startup" };
  };
  const aborted = (messages) => {
    const last = [...(messages ?? [])].reverse().find((message) => message?.role === "assistant");
    return last?.stopReason === "aborted" || last?.stopReason === "error";
  };
  pi.on("tool_execution_end", async () => { calls += 1; });
  pi.on("before_agent_start", async (event, ctx) => {
    const data = about(ctx);
    const first = briefed !== data.session_id + data.transcript_path;
    briefed = data.session_id + data.transcript_path;
    calls = 0;
    nudged = false;
    const texts = [];
    if (first) texts.push(await hook("session-start", data, %(start)d));
    if (ASK_AT_PROMPTS) texts.push(await hook("prompt", { ...data, prompt: event?.prompt ?? "" }, %(prompt)d));
    const content = texts.filter(Boolean).join("\\n\\n");
    return content ? { message: { customType: "lessonbook", content, display: false } } : undefined;
  });
%(stopping)s
  pi.on("session_shutdown", async (event, ctx) => { await hook("session-end", about(ctx), %(end)d); });
}
"""
_PI_STOP = """\
  pi.on("agent_end", async (event, ctx) => {
    const data = { ...about(ctx), tool_calls: calls, aborted: aborted(event?.messages), stop_hook_active: nudged };
    calls = 0;
    nudged = false;
    const text = await hook("stop", data, %(stop)d);
    if (!text) return;
    nudged = true;
    try {
      const message = { customType: "lessonbook", content: text, display: true };
      pi.sendMessage(message, { triggerTurn: true, deliverAs: "followUp" });
    } catch {}
  });
"""
_OMP_STOP = """\
  pi.on("session_stop", async (event, ctx) => {
    const active = Boolean(event?.stop_hook_active) || nudged;
    const data = { ...about(ctx), tool_calls: calls, aborted: aborted(event?.messages), stop_hook_active: active };
    calls = 0;
    nudged = false;
    const text = await hook("stop", data, %(stop)d);
    if (!text) return undefined;
    nudged = true;
    return { decision: "block", reason: text };
  });
"""
_SECONDS = {"start": SECONDS[SESSION_START], "prompt": SECONDS[PROMPT], "stop": SECONDS[STOP], "end": 2}


class Kind(Value):
    """One program's text, without its head."""

    body: str


OPENCODE = Kind(_OPENCODE % _SECONDS)
PI = Kind(_PI % {**_SECONDS, "stopping": _PI_STOP % _SECONDS})
OMP = Kind(_PI % {**_SECONDS, "stopping": _OMP_STOP % _SECONDS})


def program(kind: Kind, agent: str, wanted: Wanted) -> str:
    """Return the whole text of an agent's extension."""
    import json

    command, prompt = json.dumps(list(wanted.command), ensure_ascii=False), json.dumps(wanted.prompt)
    return _HEAD.format(agent=agent, command=command, prompt=prompt) + kind.body


def mark(agent: str) -> str:
    """Return what every version of an agent's extension holds."""
    return f"`lessonbook setup --remove {agent}`"


def answer(event: str, text: str) -> Data:
    """Return what the extensions read."""
    return {"text": text}


def quiet(data: Data) -> bool:
    """Whether a stop follows one of ours, or ends a turn that was broken off."""
    return bool(data.get("stop_hook_active")) or bool(data.get("aborted"))
