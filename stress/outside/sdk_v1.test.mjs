// The official TypeScript SDK, version 1, with which most harnesses of today speak.

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { behaves } from "./story.mjs";

async function open(how) {
  const client = new Client({ name: "outside-v1", version: "1.0.0" });
  const transport = new StdioClientTransport(how);
  const errors = [];
  let protocol;
  transport.setProtocolVersion = (version) => (protocol = version);
  client.onerror = (error) => errors.push(`${error}`);
  await client.connect(transport);
  return {
    errors,
    protocol: () => protocol,
    list: async () => (await client.listTools()).tools,
    call: (name, args, options) => client.callTool({ name, arguments: args }, undefined, options),
    close: () => client.close(),
    pid: () => transport.pid,
  };
}

behaves("SDK v1", open, "2025-11-25");
