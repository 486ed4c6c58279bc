// A stand-in for the API of a model, on loopback. It notes what a harness sends to its model
// and answers by a script. What an API looks like is in the file of its name. A request that
// neither the script nor the table in side.mjs expects is refused, and close reports it.

import { once } from "node:events";
import { createServer } from "node:http";
import { aside } from "./side.mjs";

export class Model {
  // start begins to answer by an API. answer is called with each request of an agent and
  // its number from 1, and returns {text}, {tool, input} or {fails: true}, or undefined for a request that
  // it does not expect; it may wait. A request has tools, a map of names to what the API calls
  // them, schemas, a map of the same names to what the API is told of them, and sent, the text of all that the model is to read.
  static async start(api, answer) {
    const model = new Model();
    model.requests = [];
    model.failures = [];
    model.server = createServer(async (request, response) => {
      const chunks = [];
      for await (const chunk of request) chunks.push(chunk);
      try {
        await model.#handle(api, answer, request, Buffer.concat(chunks).toString(), response);
      } catch (failure) {
        model.failures.push(failure);
        // Harnesses do not repeat a request that is wrong.
        const error = { code: 400, type: "invalid_request_error", status: "INVALID_ARGUMENT", message: failure.message };
        response.writeHead(400, { "Content-Type": "application/json" }).end(JSON.stringify({ type: "error", error }));
      }
    });
    model.server.listen(0, "127.0.0.1");
    await once(model.server, "listening");
    model.url = `http://127.0.0.1:${model.server.address().port}`;
    return model;
  }

  // close ends the model. It throws the first failure of a script, or the first request
  // that nothing expected.
  async close() {
    this.server.closeAllConnections();
    this.server.close();
    await once(this.server, "close");
    if (this.failures.length > 0) throw this.failures[0];
  }

  async #handle(api, answer, { method, url }, text, response) {
    const path = url.split("?")[0];
    const request = method === "POST" && api.path.test(path) ? api.read(JSON.parse(text)) : undefined;
    const known = aside(method, path, request);
    if (known?.body) {
      response.writeHead(200, { "Content-Type": "application/json" }).end(known.body);
      return;
    }
    if (!request) throw new Error(`nothing expects ${method} ${path}: ${text.slice(0, 300)}`);
    const step = known ?? (await this.#step(answer, request));
    if (step.fails) {
      const error = { code: 400, type: "invalid_request_error", status: "INVALID_ARGUMENT", message: "the model fails" };
      response.writeHead(400, { "Content-Type": "application/json" }).end(JSON.stringify({ type: "error", error }));
      return;
    }
    if (api.whole?.test(path)) {
      response.writeHead(200, { "Content-Type": "application/json" });
      api.write((_, data) => response.write(JSON.stringify(data)), JSON.parse(text), step, this.requests.length);
      response.end();
      return;
    }
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    // An API names its events, or writes data alone, or the bare text that ends a stream.
    const send = (type, data) => {
      if (!data) response.write(`data: ${type}\n\n`);
      else if (!type) response.write(`data: ${JSON.stringify(data)}\n\n`);
      else response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
    };
    api.write(send, JSON.parse(text), step, this.requests.length);
    response.end();
  }

  async #step(answer, request) {
    const n = this.requests.push(request);
    const step = await answer(request, n);
    if (!step) throw new Error(`the script has no step for request ${n}, with ${Object.keys(request.tools).length} tools, which ends: ${request.sent.slice(-600)}`);
    return step;
  }
}
