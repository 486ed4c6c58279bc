// A stand-in for the Messages API of Anthropic, on loopback. It notes what a harness
// sends to its model and answers by a script, as a stream of events. Requests without
// the tools of an agent (titles, summaries) are answered with one word and not noted.
//
// https://docs.anthropic.com/en/api/messages-streaming

import { once } from "node:events";
import { createServer } from "node:http";

export class Model {
  // start begins to answer. answer is called with each request and its number from 1, and returns
  // {text} or {tool, input}; it may wait.
  static async start(answer) {
    const model = new Model();
    model.requests = [];
    model.failures = [];
    model.server = createServer(async (request, response) => {
      const chunks = [];
      for await (const chunk of request) chunks.push(chunk);
      await model.#handle(request, Buffer.concat(chunks).toString(), response, answer);
    });
    model.server.listen(0, "127.0.0.1");
    await once(model.server, "listening");
    model.url = `http://127.0.0.1:${model.server.address().port}`;
    return model;
  }

  async close() {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, "close");
  }

  async #handle(request, text, response, answer) {
    const path = request.url.split("?")[0];
    if (request.method !== "POST" || !path.startsWith("/v1/messages")) {
      response.writeHead(404).end();
      return;
    }
    const body = JSON.parse(text);
    if (path.endsWith("/count_tokens")) {
      response.writeHead(200, { "Content-Type": "application/json" }).end('{"input_tokens":10}');
      return;
    }
    let step = { text: "ok" };
    if ((body.tools ?? []).length > 3) {
      this.requests.push(body);
      try {
        step = await answer(body, this.requests.length);
      } catch (failure) {
        this.failures.push(failure);
      }
    }
    this.#stream(response, body.model, step);
  }

  #stream(response, model, step) {
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    const send = (type, data) => response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
    const id = `msg_${this.requests.length}`;
    const usage = { input_tokens: 1, output_tokens: 1 };
    send("message_start", {
      message: { id, type: "message", role: "assistant", model, content: [], stop_reason: null, stop_sequence: null, usage },
    });
    if (step.tool) {
      const block = { type: "tool_use", id: `tool_${this.requests.length}`, name: step.tool, input: {} };
      send("content_block_start", { index: 0, content_block: block });
      send("content_block_delta", { index: 0, delta: { type: "input_json_delta", partial_json: JSON.stringify(step.input ?? {}) } });
    } else {
      send("content_block_start", { index: 0, content_block: { type: "text", text: "" } });
      send("content_block_delta", { index: 0, delta: { type: "text_delta", text: step.text } });
    }
    send("content_block_stop", { index: 0 });
    send("message_delta", { delta: { stop_reason: step.tool ? "tool_use" : "end_turn", stop_sequence: null }, usage });
    send("message_stop", {});
    response.end();
  }
}
