// A process between a client and a bridge: node between.mjs MODE COMMAND ARG...
//
// "noise" puts lines between the client's frames that are none, of every kind that
// a broken client could write; the bridge must go on as if nothing had happened.
// Every other mode spoils the bridge's answers in one way, as a broken bridge
// would: the tests that are there for that answer must fail. faults.mjs tells
// which they are.

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const [mode, command, ...args] = process.argv.slice(2);

// noise is what is no frame: no JSON, JSON that is no request, a request of
// another protocol, bytes that are no text, a long line and deep ones.
const noise = [
  "this is no frame",
  "{",
  '{"jsonrpc":"2.0","id":1,"method":',
  "[]",
  "null",
  "42",
  '"text"',
  "{}",
  '{"id":1,"method":"ping"}',
  '{"jsonrpc":"1.0","id":1,"method":"ping"}',
  '{"jsonrpc":"2.0"}',
  Buffer.from([0xff, 0xfe, 0x00, 0xc3, 0x28]),
  "\t \r",
  "x".repeat(300_000),
  "[".repeat(20_000),
  `{"jsonrpc":"2.0","method":"notifications/deep","params":${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}}`,
];

// spoil changes an answer; undefined drops it.
const spoil = {
  noise: (frame) => frame,
  // Structured content is not what the schema of the tool says.
  structure: (frame) => {
    delete frame.result?.structuredContent;
    return frame;
  },
  // An unknown tool is an ordinary result.
  unknown: (frame) => {
    if (frame.error?.code !== -32602) return frame;
    return { jsonrpc: "2.0", id: frame.id, result: { content: [{ type: "text", text: "?" }], structuredContent: {} } };
  },
  // Failures look like success.
  silent: (frame) => {
    if (frame.result?.isError) frame.result.isError = false;
    return frame;
  },
  // There is no progress.
  progress: (frame) => (frame.method === "notifications/progress" ? undefined : frame),
  // Schemas hold null unions.
  schema: (frame) => {
    for (const tool of frame.result?.tools ?? []) {
      for (const property of Object.values(tool.inputSchema.properties ?? {})) property.type = ["null", property.type];
    }
    return frame;
  },
  // There are no tools.
  empty: (frame) => {
    if (frame.result?.tools) frame.result.tools = [];
    return frame;
  },
  // Every tool says that it destroys something.
  destructive: (frame) => {
    for (const tool of frame.result?.tools ?? []) tool.annotations = { ...tool.annotations, readOnlyHint: false, destructiveHint: true };
    return frame;
  },
  // Names are not what the protocol allows.
  names: (frame) => {
    for (const tool of frame.result?.tools ?? []) tool.name += " !";
    return frame;
  },
  // A version is agreed upon that nobody speaks.
  version: (frame) => {
    if (frame.result?.protocolVersion) frame.result.protocolVersion = "2020-02-02";
    return frame;
  },
  // After a first answer that tells of a message, it is somebody else's.
  forgetful: (frame) => {
    if (frame.result?.structuredContent?.id > 1) frame.result = { isError: true, content: [{ type: "text", text: "who are you?" }] };
    return frame;
  },
};

const bridge = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
bridge.on("exit", (code, signal) => process.exit(signal ? 1 : code));
process.on("SIGTERM", () => bridge.kill("SIGTERM"));

const fromClient = createInterface({ input: process.stdin });
fromClient.on("line", (line) => {
  // What is dropped here is not: a bridge that does not hear of a cancellation.
  if (mode === "cancel" && line.includes('"notifications/cancelled"')) return;
  // A bridge that ends at the first line that is no frame, as the SDK would.
  if (mode === "fragile" && !isFrame(line)) process.exit(1);
  if (mode === "noise") for (const junk of noise) bridge.stdin.write(Buffer.concat([Buffer.from(junk), Buffer.from("\n")]));
  bridge.stdin.write(`${line}\n`);
});
fromClient.on("close", () => mode !== "lingering" && bridge.stdin.end());
bridge.stdin.on("error", () => {}); // of a bridge that has ended

function isFrame(line) {
  try {
    return JSON.parse(line).jsonrpc === "2.0";
  } catch {
    return false;
  }
}

// A bridge that writes what is no frame.
if (mode === "impure") process.stdout.write("starting the bridge\n");

const change = spoil[mode] ?? ((frame) => frame);
createInterface({ input: bridge.stdout }).on("line", (line) => {
  const frame = change(JSON.parse(line));
  if (frame !== undefined) process.stdout.write(`${JSON.stringify(frame)}\n`);
});
