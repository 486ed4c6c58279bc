// What the adapter wrote is spoiled in one way after the other. The named test must
// notice.

import { noticed } from "../noticed.mjs";

const file = "turns/turns.test.mjs";

noticed([
  { mode: "start", file, test: "a session is one agent" },
  { mode: "middle", file, test: "mail in the middle" },
  { mode: "end", file, test: "mail in the middle" },
  { mode: "edit", file, test: "a locked file" },
]);
