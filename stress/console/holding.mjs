// A tab in which one answer of the hub is held back, for tests of what a page says meanwhile.

import assert from "node:assert/strict";

const frames = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
const full = { ok: false, code: "overloaded", status: 503, error: "the hub has too much to do", fix: "try again" };

export class Holding {
  held = ""; // the path whose answers do not come; empty: all come
  asked = new Set(); // paths that the page has asked for
  #waiting = []; // what the page asked of the held path
  #open = 0;

  constructor(page) {
    this.page = page;
  }

  static async of(page) {
    const holding = new Holding(page);
    await page.route((url) => url.pathname.startsWith("/v1/") && !/stream$|proof$/.test(url.pathname), (route) => holding.#answer(route));
    return holding;
  }

  async #answer(route) {
    const { pathname, search } = new URL(route.request().url());
    this.asked.add(pathname + search);
    if (pathname + search === this.held) return void this.#waiting.push(route);
    this.#open++;
    try {
      await route.fulfill({ response: await route.fetch() });
    } catch {
      // the page is gone
    }
    this.#open--;
  }

  // show opens an address, and waits until the page has read and drawn all but what is held.
  async show(url) {
    await this.page.goto("about:blank"); // the page before asks nothing more
    for (const route of this.#waiting.splice(0)) await route.abort().catch(() => {});
    this.asked.clear();
    await this.page.goto(url);
    await this.page.locator("main h1").first().waitFor();
    if (!this.held) await this.page.getByText("connected", { exact: true }).waitFor();
    const end = Date.now() + 30_000;
    for (let quiet = 0; quiet < 2; quiet++) {
      while (this.#open > 0 || (this.held && this.#waiting.length === 0)) {
        assert.ok(Date.now() < end, `${url} without ${this.held}: ${this.#open} readings are open, asked for: ${[...this.asked].join(" ")}`);
        await this.page.waitForTimeout(5);
        quiet = 0;
      }
      await frames(this.page);
    }
  }

  // refuse answers what is held with a refusal, and waits until that is drawn.
  async refuse() {
    const refused = this.page.waitForResponse((answer) => answer.status() === full.status);
    for (const route of this.#waiting.splice(0)) await route.fulfill({ status: full.status, json: full }).catch(() => {});
    await refused;
    await frames(this.page);
    await frames(this.page);
  }
}
