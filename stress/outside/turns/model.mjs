// A stand-in for the API of a model, on loopback. It notes what a harness sends to its model
// and answers by a script. What an API looks like is in the file of its name.

import { once } from "node:events";
import { createServer } from "node:http";

export class Model {
  // start begins to answer by an API. answer is called with each request of an agent and
  // its number from 1, and returns {text} or {tool, input}; it may wait. A request has
  // tools, a map of names to what the API calls them, and sent, the text of all that the model
  // is to read.
  static async start(api, answer) {
    const model = new Model();
    model.requests = [];
    model.failures = [];
    model.server = createServer(async (request, response) => {
      const chunks = [];
      for await (const chunk of request) chunks.push(chunk);
      await model.#handle(api, answer, request, Buffer.concat(chunks).toString(), response);
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

  async #handle(api, answer, { method, url }, text, response) {
    const path = url.split("?")[0];
    if (method !== "POST" || !api.path.test(path)) {
      const [status, body] = api.other?.(path) ?? [404, ""];
      response.writeHead(status, { "Content-Type": "application/json" }).end(body);
      return;
    }
    const body = JSON.parse(text);
    const request = api.read(body);
    // Titles and summaries are asked without the tools of an agent.
    let step = { text: "ok" };
    if (Object.keys(request.tools).length > 3) {
      this.requests.push(request);
      try {
        step = await answer(request, this.requests.length);
      } catch (failure) {
        this.failures.push(failure);
      }
    }
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    // An API names its events, or writes data alone, or the bare text that ends a stream.
    const send = (type, data) => {
      if (!data) response.write(`data: ${type}\n\n`);
      else if (!type) response.write(`data: ${JSON.stringify(data)}\n\n`);
      else response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
    };
    api.write(send, body, step, this.requests.length);
    response.end();
  }
}
