// The official TypeScript SDK, version 2, in both eras of the protocol.

import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { behaves } from "./story.mjs";

const opener = (options) => async (how) => {
  const client = new Client({ name: "outside-v2", version: "1.0.0" }, options);
  const transport = new StdioClientTransport(how);
  const errors = [];
  client.onerror = (error) => errors.push(`${error}`);
  await client.connect(transport);
  return {
    errors,
    protocol: () => client.getNegotiatedProtocolVersion(),
    list: async () => (await client.listTools()).tools,
    call: (name, args, options) => client.callTool({ name, arguments: args }, options),
    close: () => client.close(),
    pid: () => transport.pid,
  };
};

behaves("SDK v2", opener(), "2025-11-25");
behaves("SDK v2, modern", opener({ versionNegotiation: { mode: "auto" } }), "2026-07-28");
