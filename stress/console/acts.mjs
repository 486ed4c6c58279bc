// Random acts on the page of questions: agents ask and withdraw, others answer, and a person points,
// clicks, presses keys and types, by a clock that the acts move. The witness judges what is sent.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { address } from "./browser.mjs";
import { witness } from "./witness.mjs";

// randomOf gives numbers from 0 to 1 that follow from a seed (mulberry32).
function randomOf(seed) {
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const keys = {
  Enter: { key: "Enter", code: "Enter", text: "\r", windowsVirtualKeyCode: 13 },
  Tab: { key: "Tab", code: "Tab", windowsVirtualKeyCode: 9 },
  Escape: { key: "Escape", code: "Escape", windowsVirtualKeyCode: 27 },
  Space: { key: " ", code: "Space", text: " ", windowsVirtualKeyCode: 32 },
};

const mostOpen = 9;
const perPage = 4_000; // acts, after which the page is opened anew

class Acts {
  open = new Map(); // ask_id: question
  questions = new Map(); // of all ids
  aimed = []; // points at which buttons were seen
  counts = {};

  constructor(hub, browser, seed) {
    Object.assign(this, { hub, browser, seed, random: randomOf(seed) });
  }

  pick = (list) => list[Math.floor(this.random() * list.length)];
  below = (n) => Math.floor(this.random() * n);

  async call(path, body, operator = false) {
    const headers = { "Content-Type": "application/json", ...(operator && { "X-Hub-Operator": this.token }) };
    return (await fetch(this.hub.url + path, { method: body ? "POST" : "GET", headers, ...(body && { body: JSON.stringify(body) }) })).json();
  }

  async begin() {
    this.token = (await readFile(join(this.hub.root, "data", "app.db", "operator.token"), "utf8")).trim();
    await this.tab?.close();
    this.tab = await this.browser.tab({ viewport: { width: 1000, height: 1500 } });
    this.page = this.tab.page;
    await this.page.addInitScript(witness);
    await this.page.clock.install({ time: new Date("2026-01-01T08:00:00Z") });
    await this.page.goto(await address(this.hub));
    await this.page.getByText("connected", { exact: true }).waitFor();
    await this.page.clock.pauseAt(new Date("2026-01-01T08:10:00Z"));
    await this.page.clock.runFor(1_000);
    const faked = await this.page.evaluate(() => [new Event("x").timeStamp, performance.now()]);
    assert.ok(Math.abs(faked[0] - faked[1]) < 1, `the clock of events is not that of the page: ${faked}`);
    this.input = await this.page.context().newCDPSession(this.page);
  }

  // arrives has an agent ask, a third of the time whether a tool may run.
  async arrives() {
    if (this.open.size >= mostOpen) return;
    const n = this.questions.size;
    const agent = `dev-${n % 7}`;
    if (this.random() < 0.4) {
      const about = `make step-${n}`;
      const { result } = await this.call("/v1/permissions/requests", { agent_id: agent, tool: "Bash", command: about, about });
      if (result?.ask_id) this.known(result.ask_id, `Bash: ${about}`);
      return;
    }
    const options = this.random() < 0.7 ? ["yes", "no"] : [];
    const question = `Question number ${n}?`;
    const { result } = await this.call("/v1/asks", { agent_id: agent, question, options });
    if (result) this.known(result.ask_id, question);
  }

  known(id, question) {
    this.open.set(id, question);
    this.questions.set(id, question);
  }

  // leaves has a question answered by another person, or withdrawn.
  async leaves(id = this.pick([...this.open.keys()])) {
    if (!id) return;
    this.open.delete(id);
    if (this.random() < 0.5) await this.call(`/v1/asks/${id}/answer`, { answer: "deny", by: "eva" }, true);
    else await this.call(`/v1/asks/${id}/withdraw`, { by: "eva", reason: "not needed" }, true);
  }

  // aims notes where a button is, as a person does who is about to click.
  async aims() {
    const points = await this.page.evaluate(() =>
      [...document.querySelectorAll("[data-ask] button:not(:disabled)")].map((button) => {
        const { left, top, width, height } = button.getBoundingClientRect();
        return [left + width / 2, top + height / 2];
      }).filter(([x, y]) => y > 0 && y < innerHeight && x > 0),
    );
    if (points.length > 0) this.aimed = [...this.aimed, this.pick(points)].slice(-4);
  }

  async mouse(type, x, y, clickCount = 1) {
    await this.input.send("Input.dispatchMouseEvent", { type, x, y, button: type === "mouseMoved" ? "none" : "left", buttons: type === "mousePressed" ? 1 : 0, clickCount });
  }

  async clicks() {
    const [x, y] = this.aimed.length > 0 && this.random() < 0.9 ? this.pick(this.aimed) : [220 + this.below(700), 60 + this.below(1400)];
    await this.mouse("mouseMoved", x, y);
    if (this.random() < 0.2) return;
    if (this.random() < 0.9) {
      await Promise.all([this.mouse("mousePressed", x, y), this.mouse("mouseReleased", x, y)]);
      return;
    }
    await this.mouse("mousePressed", x, y);
    if (this.random() < 0.5) await this.page.clock.runFor(this.below(900));
    await this.mouse("mouseReleased", x, y);
    if (this.random() < 0.5) {
      await this.mouse("mousePressed", x, y, 2);
      await this.mouse("mouseReleased", x, y, 2);
    }
  }

  // means looks for a button, takes a while, and clicks it, whatever happens meanwhile.
  async means() {
    this.aimed = [];
    await this.aims();
    if (this.random() < 0.6) await this.page.clock.runFor(750);
    if (this.random() < 0.5) await this[this.pick(["arrives", "leaves", "sees"])]();
    await this.clicks();
  }

  // decides answers the first question by keys, whatever happens meanwhile.
  async decides() {
    if (this.random() < 0.7) await this.key("Tab");
    await this.key("q");
    if (this.random() < 0.6) await this.page.clock.runFor(750);
    if (this.random() < 0.4) await this[this.pick(["arrives", "leaves", "sees"])]();
    const digit = this.pick(["1", "2"]);
    await this.key(digit);
    if (this.random() < 0.6) await this.page.clock.runFor(this.below(1_000));
    if (this.random() < 0.3) await this[this.pick(["arrives", "leaves"])]();
    await this.key(this.pick([digit, "Enter"]));
  }

  async away() {
    await this.mouse("mouseMoved", 60, 1480);
  }

  async key(key) {
    const known = keys[key] ?? { key, text: key, code: `Key${key.toUpperCase()}`, windowsVirtualKeyCode: key.toUpperCase().charCodeAt(0) };
    await Promise.all([
      this.input.send("Input.dispatchKeyEvent", { type: known.text ? "keyDown" : "rawKeyDown", ...known }),
      this.input.send("Input.dispatchKeyEvent", { type: "keyUp", ...known, text: undefined }),
    ]);
  }

  async waits() {
    await this.page.clock.runFor(this.random() < 0.4 ? 700 + this.below(300) : this.below(700));
  }

  // sees waits until the page has the questions that the hub has.
  async sees() {
    const { result } = await this.call("/v1/asks?state=open&limit=100", null, true);
    const there = new Set(result.map((one) => one.ask_id));
    for (const id of this.open.keys()) if (!there.has(id)) this.open.delete(id); // the page has answered it, or time has
    const ids = [...there].sort().join();
    const have = () => this.page.evaluate(() => [...document.querySelectorAll("[data-open-ask]")].map((row) => row.dataset.ask).sort().join());
    for (const end = Date.now() + 300; Date.now() < end && (await have()) !== ids; ) await this.page.clock.runFor(50);
  }

  // types writes words into a question, whatever becomes of it meanwhile.
  async types() {
    const fields = await this.page.evaluate(() =>
      [...document.querySelectorAll("[data-open-ask] [data-words]")].map((field) => {
        const { left, top, width, height } = field.getBoundingClientRect();
        return { id: field.closest("[data-ask]").dataset.ask, x: left + width / 2, y: top + height / 2 };
      }).filter(({ y }) => y > 0 && y < innerHeight),
    );
    if (fields.length === 0) return;
    const { id, x, y } = this.pick(fields);
    await this.mouse("mouseMoved", x, y);
    await this.mouse("mousePressed", x, y);
    await this.mouse("mouseReleased", x, y);
    for (const key of this.pick(["Pla", "n", "yes"])) await this.key(key);
    if (this.random() < 0.5) await this.leaves(id);
    if (this.random() < 0.5) await this[this.pick(["arrives", "sees"])]();
    if (this.random() < 0.3) await this.page.clock.runFor(this.below(1_000));
    for (const key of this.pick(["q1", "in", "1q2", ""])) await this.key(key);
    if (this.random() < 0.5) await this.key("Enter");
  }

  async run(total, tell = () => {}) {
    const deeds = [
      [14, "arrives"], [9, "leaves"], [14, "waits"], [8, "sees"], [10, "aims"], [15, "clicks"], [2, "away"], [9, "means"], [5, "decides"], [2, "types"],
      [5, "q"], [5, "1"], [4, "2"], [4, "Enter"], [2, "Tab"], [1, "Escape"], [2, "j"], [1, "k"], [2, "a"], [1, "Space"], [1, "word"],
    ];
    const all = deeds.reduce((sum, [weight]) => sum + weight, 0);
    const sum = { acts: 0, answers: 0, taken: 0, wrong: [] };
    await this.begin();
    for (let act = 1; act <= total; act++) {
      let n = this.below(all);
      const [, deed] = deeds.find(([weight]) => (n -= weight) < 0);
      this.counts[deed] = (this.counts[deed] ?? 0) + 1;
      if (deed === "word") await this.page.keyboard.type(this.pick(["yes", "yse", "no way", "q1", "Plain words, 1 line", "allow", "2"]));
      else if (this[deed]) await this[deed]();
      else await this.key(deed);
      if (act % 500 === 0 || act === total) {
        await this.judge(sum);
        sum.acts = act;
        tell(sum);
        if (act % perPage === 0 && act !== total) await this.begin();
      }
    }
    await this.tab.close();
    return sum;
  }

  // judge takes what the witness has found, and compares what was answered with what the hub has.
  async judge(sum) {
    const found = await this.page.evaluate(() => {
      const { wrong, log } = window.witness;
      Object.assign(window.witness, { wrong: [], log: [] });
      return { wrong, log };
    });
    sum.wrong.push(...found.wrong);
    for (const { id, answer, said } of found.log) {
      sum.answers++;
      const asked = this.questions.get(id);
      if (asked !== undefined && said !== asked) sum.wrong.push(`${id} is ${asked}, and the person saw ${said}`);
      const { result } = await this.call(`/v1/asks/${id}`, null, true);
      if (result?.closed_by === "console" && result.answer === answer.trim()) sum.taken++;
    }
    sum.wrong.push(...this.tab.wrong.filter((one) => !/status of 409|status of 400/.test(one)));
    this.tab.wrong.length = 0;
  }
}

// acts does so many random acts on a hub with permission prompts on, and returns what came of them.
export async function acts(hub, browser, { total, seed, tell }) {
  const deeds = new Acts(hub, browser, seed);
  const sum = await deeds.run(total, tell);
  return { ...sum, counts: deeds.counts };
}
