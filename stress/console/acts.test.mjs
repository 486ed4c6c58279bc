// Random acts, some seconds of them; ACTS and SEED ask for more. See CONTRIBUTING.md.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { Hub, hubcli } from "../outside/hub.mjs";
import { acts } from "./acts.mjs";
import { Browser } from "./browser.mjs";

const total = Number(process.env.ACTS ?? 1_500);
const seed = Number(process.env.SEED ?? 1);

describe("random acts on the page of questions", () => {
  let hub, browser;
  before(async () => {
    hub = await Hub.start();
    await promisify(execFile)(hubcli, ["app", "permissions", "on", "--wait", "60s", "--base-url", hub.url], { env: hub.env });
    browser = await Browser.start({ flags: ["--disable-frame-rate-limit", "--disable-gpu-vsync", "--disable-smooth-scrolling"] });
  });
  after(async () => {
    await browser?.close();
    await hub?.close();
  });

  it(`answer no question but the one that the person saw and meant: ${total} acts of seed ${seed}`, async (t) => {
    const begun = Date.now();
    const tell = (sum) => {
      assert.deepEqual(sum.wrong, []);
      if (sum.acts % 10_000 === 0) t.diagnostic(`${sum.acts} acts, ${sum.answers} answers, ${Math.round((Date.now() - begun) / 1000)} s`);
    };
    const sum = await acts(hub, browser, { total, seed, tell });
    t.diagnostic(`${sum.acts} acts in ${Math.round((Date.now() - begun) / 1000)} s: ${sum.answers} answers, ${sum.taken} taken, ${sum.wrong.length} to another question; ${JSON.stringify(sum.counts)}`);
    assert.deepEqual(sum.wrong, []);
    assert.ok(sum.taken > total / 100, `${sum.taken} answers in ${total} acts prove little`);
  });
});
