// A test that cannot fail proves nothing. Each row spoils what a bridge writes in
// one way (between.mjs) and names a test that must notice. The same tests pass
// with nothing spoiled: that is the step outside.

import { noticed } from "./noticed.mjs";

const faults = [
  { mode: "structure", file: "sdk_v1.test.mjs", test: "answers with structured content" },
  { mode: "structure", file: "sdk_v2.test.mjs", test: "answers with structured content" },
  { mode: "structure", file: "inspector.test.mjs", test: "calls, and tells a refusal" },
  { mode: "unknown", file: "sdk_v1.test.mjs", test: "refuses an unknown tool" },
  { mode: "silent", file: "sdk_v2.test.mjs", test: "refuses an unknown tool" },
  { mode: "silent", file: "inspector.test.mjs", test: "calls, and tells a refusal" },
  { mode: "progress", file: "sdk_v1.test.mjs", test: "sends progress" },
  { mode: "cancel", file: "sdk_v1.test.mjs", test: "frees the hub" },
  { mode: "fragile", file: "sdk_v2.test.mjs", test: "survives every malformed frame" },
  { mode: "impure", file: "sdk_v1.test.mjs", test: "connects and lists" },
  { mode: "forgetful", file: "sdk_v1.test.mjs", test: "goes on as who it was" },
  { mode: "lingering", file: "sdk_v1.test.mjs", test: "leaves when its client closes it" },
  { mode: "schema", file: "inspector.test.mjs", test: "every schema of full-tools" },
  { mode: "names", file: "sdk_v1.test.mjs", test: "connects and lists" },
  { mode: "names", file: "conformance.test.mjs", test: "2026-07-28, through a bridge" },
  { mode: "version", file: "conformance.test.mjs", test: "2025-11-25, through a bridge" },
];

noticed(faults);
