// Mistakes that are planted: SPOIL names one, and a test must notice it. See faults.mjs.

import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { here, hubcli } from "../hub.mjs";

// letters change what hooks say of a message, so that the model never reads it, or twice.
const letters = { lost: "s/MAIL [0-9]+\\./MAIL/g", again: "s/(MAIL [0-9]+\\.)/\\1 \\1/g" };

// spoil plants a mistake that a test must notice. It takes a hook out of the harness's
// settings, or replaces what the harness starts.
export async function spoil(harness, home) {
  const mode = process.env.SPOIL;
  if (!mode) return;
  const { hooks, entry = hooks, start = "SessionStart", tool, end = "Stop", edit = "PreToolUse", prompt = "UserPromptSubmit", permission = "PermissionRequest" } = harness;
  if (mode === "empty" || mode === "destructive") {
    const program = await script(home, `exec ${process.execPath} ${join(here, "between.mjs")} ${mode} ${hubcli} "$@"`);
    const text = await readFile(join(home, ...entry), "utf8");
    assert.ok(text.includes(`"${hubcli}"`), "there is no bridge to spoil");
    await writeFile(join(home, ...entry), text.replace(`"${hubcli}"`, `"${program}"`));
    return;
  }
  const file = join(home, ...hooks);
  const settings = JSON.parse(await readFile(file, "utf8"));
  if (letters[mode]) {
    for (const list of [tool, end, prompt].map((name) => settings.hooks[name])) {
      const { call, line } = caller(list);
      call[line] += ` | sed -E '${letters[mode]}'`;
    }
    await writeFile(file, JSON.stringify(settings));
    return;
  }
  const at = { start, middle: tool, end, edit, permission, twice: end }[mode];
  assert.ok(settings.hooks[at], `there is no way ${mode} to spoil`);
  if (mode === "twice") {
    const hold = JSON.stringify({ decision: "block", reason: "Go on." });
    const program = await script(home, `echo . >> ${home}/held\n[ $(wc -l < ${home}/held) -le 2 ] && echo '${hold}' || echo '{}'`);
    const { call, line } = caller(settings.hooks[at]);
    call[line] = program;
  } else {
    delete settings.hooks[at];
  }
  await writeFile(file, JSON.stringify(settings));
}

// caller returns what calls a hook, and the member that has its line: Copilot CLI has one for each
// kind of shell.
function caller([first]) {
  const call = first.hooks?.[0] ?? first;
  return { call, line: call.bash ? "bash" : "command" };
}

// script writes a program for a shell and returns its path.
async function script(home, text) {
  const file = join(home, "spoiled");
  await writeFile(file, `#!/bin/sh\n${text}\n`, { mode: 0o755 });
  return file;
}
