// What the adapter wrote, or what the bridge answers, is spoiled in one way after the other.
// The named test must notice.

import { noticed } from "../noticed.mjs";

const file = "turns/turns.test.mjs";

noticed([
  { mode: "start", file, test: "a session is one agent" },
  { mode: "middle", file, test: "mail in the middle" },
  { mode: "end", file, test: "mail in the middle" },
  { mode: "twice", file, test: "mail that the agent has read" },
  { mode: "empty", file, test: "a session is one agent" },
  { mode: "destructive", file, test: "the tools that write" },
  { mode: "edit", file, test: "a locked file" },
  { mode: "permission", file: "turns/prompts.test.mjs", test: "the hub shows that the agent waits" },
  { mode: "lost", file: "turns/bridges.test.mjs", test: "when the bridge is killed" },
  { mode: "again", file: "turns/bridges.test.mjs", test: "when the bridge is killed" },
]);
