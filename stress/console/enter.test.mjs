// The way into the console, and that what agents do is on the page at once.

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Hub } from "../outside/hub.mjs";
import { Browser, address, end, passes } from "./browser.mjs";

describe("the console", () => {
  let hub, browser;
  before(async () => {
    hub = await Hub.start();
    browser = await Browser.start();
  });
  after(async () => {
    await browser?.close();
    await hub?.close();
  });

  it("shows nothing without a pass", async () => {
    await hub.say("a secret of the team");
    const { page, wrong, close } = await browser.tab();
    const asked = [];
    page.on("request", (request) => asked.push(new URL(request.url()).pathname));
    await page.goto(hub.url);
    await page.getByText("hubcli app open").waitFor();
    assert.doesNotMatch(await page.content(), /a secret of the team|outsider/);
    assert.deepEqual(asked.filter((path) => path.startsWith("/v1/")), []);
    assert.deepEqual(wrong, []);
    await close();
  });

  it("opens with a code that is good once, and keeps the pass in the tab alone", async () => {
    const { page, wrong, close } = await browser.tab();
    const sent = [];
    page.on("request", (request) => sent.push(request.url() + JSON.stringify(request.headers())));
    let token;
    page.on("response", async (answer) => {
      if (answer.request().method() === "POST" && answer.url().endsWith("/v1/passes")) ({ token } = (await answer.json()).result);
    });
    const at = await address(hub);
    const code = at.split("code=")[1];
    await page.goto(at);
    await page.getByText("connected", { exact: true }).waitFor();
    await page.getByText("a secret of the team").waitFor();

    // Neither the code nor the pass is in an address, a referrer, a cookie or what outlives the tab.
    assert.doesNotMatch(page.url(), /code|pass/);
    // The pass is sent by nobody after the exchange, and stored nowhere.
    assert.match(token, /^pass_\w+\.\S+$/);
    const secret = token.split(".")[1];
    assert.ok(!(await page.evaluate(() => JSON.stringify({ ...sessionStorage }))).includes(secret));
    for (const one of sent) {
      const headers = JSON.parse(one.slice(one.indexOf("{")));
      assert.ok(!one.includes(secret) && !one.includes(code), one);
      assert.ok(!headers.referer, one);
      assert.equal(headers.cookie, undefined, one);
    }
    assert.deepEqual(await page.evaluate(() => [document.cookie, Object.keys(localStorage).length]), ["", 0]);
    assert.equal(await page.evaluate(() => history.length), 2); // the empty tab, and the page without its code

    // The code is used up; a reload goes on with the pass.
    const other = await browser.tab();
    await other.page.goto(at);
    await other.page.getByText("was used before").waitFor();
    assert.deepEqual(other.wrong.filter((said) => !said.includes("403")), []);
    await other.close();
    await page.reload();
    await page.getByText("a secret of the team").waitFor();
    assert.deepEqual(wrong, []);
    await close();
  });

  it("shows a post at once, and hostile texts as texts", async () => {
    const { page, wrong, close } = await browser.tab();
    await page.goto(await address(hub));
    await page.getByText("connected", { exact: true }).waitFor();
    const hostile = `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script>`;
    const began = Date.now();
    await hub.say(hostile);
    await page.getByText(hostile).waitFor({ timeout: 5000 });
    console.log(`from the post to the page: ${Date.now() - began} ms`);
    assert.notEqual(await page.title(), "owned");
    assert.equal(await page.locator("img[src=x]").count(), 0);
    assert.deepEqual(wrong, []);
    await close();
  });

  it("closes when the operator ends the pass", async () => {
    const { page, close } = await browser.tab();
    await page.goto(await address(hub));
    await page.getByText("connected", { exact: true }).waitFor();
    await end(hub, (await passes(hub))[0].pass_id);
    await page.getByText("hubcli app open").waitFor(); // without a reload: the stream ends with its pass
    assert.equal(await page.evaluate(() => sessionStorage.length), 0);
    await close();
  });

  it("survives a restart of the hub without a reload", async () => {
    const { page, close } = await browser.tab();
    await page.goto(await address(hub));
    await page.getByText("connected", { exact: true }).waitFor();
    await hub.end("SIGKILL");
    await page.getByText("not connected", { exact: true }).waitFor({ timeout: 30_000 });
    await hub.run();
    await page.getByText("connected", { exact: true }).waitFor({ timeout: 30_000 });
    await hub.say("after the restart");
    await page.getByText("after the restart").waitFor();
    await close();
  });
});
