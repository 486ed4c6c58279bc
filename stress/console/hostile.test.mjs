// Five hundred hostile strings in every field that agents can write, on every page: nothing of
// them runs, asks another host, draws a badge, hides a character or leaves its place.
//
// SEED gives other strings.

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Hub } from "../outside/hub.mjs";
import { Browser, address, press } from "./browser.mjs";
import { come, settled, tabs, things } from "./places.mjs";
import { numbers, strings } from "./strings.mjs";

const seed = Number(process.env.SEED ?? 1);
const texts = strings(seed, 500);

// fields are what agents write. Each writes one string; name is that of an agent of its own.
// What is attached, and tags, have a text where the hub takes it; it refuses some characters in names.
const attach = (text) => [
  { type: "text", content: text, description: text },
  { type: "code", content: text, language: "html" },
  { type: "json", content: { [text]: text } },
  { type: "file_ref", path: `/src/${text}`, description: text },
];
const tagsOf = (text) => [text.slice(0, 40)];

const fields = {
  message: (hub, rooms, text, name) => [hub, "/v1/messages", { from_agent: name, channel: rooms[0].channel, body: text, metadata: { note: text }, attachments: attach(text) }],
  thread: (hub, rooms, text, name) => [hub, "/v1/messages", { from_agent: name, channel: rooms[2].channel, body: text, thread_id: text.slice(0, 200) }],
  task: (hub, rooms, text, name) => [hub, "/v1/messages", { from_agent: name, to_agent: name, channel: rooms[1].channel, kind: "task", body: text, metadata: { [text]: text } }],
  run: (hub, rooms, text, name) => [hub, "/v1/runs", { room_id: rooms[2].room_id, title: text, created_by: name, tasks: [{ title: text.split("\n")[0], details: text }] }],
  claim: (hub, rooms, text, name) => [hub, "/v1/claims", { owner_agent_id: name, claim_key: text, ttl_sec: 3600, thread_id: text, metadata: { note: text } }],
  lock: (hub, rooms, text, name) => [hub, "/v1/locks", { agent_id: name, file_path: `/src/${text}`, ttl_sec: 3600, metadata: { note: text } }],
  decision: (hub, rooms, text, name) => [hub, "/v1/decisions", { room_id: rooms[1].room_id, title: text, note: text, by: name, metadata: { note: text } }],
  artifact: (hub, rooms, text, name) => [hub, "/v1/artifacts", { room_id: rooms[1].room_id, title: text, kind: "doc", body: text, by: name }],
  memory: (hub, rooms, text, name) => [hub, "/v1/memory", { room_id: rooms[0].room_id, key: text, text, by: name, tags: tagsOf(text) }],
  ask: (hub, rooms, text, name) => [hub, "/v1/asks", { agent_id: name, room_id: rooms[0].room_id, question: text, options: [text.slice(0, 200), "no"] }],
  permission: (hub, rooms, text, name) => [hub, "/v1/permissions/requests", { agent_id: name, tool: text, about: text, command: text, folder: "/src" }],
  session: (hub, rooms, text, name) => [hub, "/v1/sessions", { agent_id: name, display_name: text.slice(0, 64), capabilities: [text.slice(0, 64)], metadata: { harness: text, [text]: text } }],
  room: (hub, rooms, text, name) => [hub, "/v1/rooms", { project: "web-shop", name: text, topic: text, created_by: name, force: true, force_reason: "a test" }],
  project: (hub, rooms, text, name) => [hub, "/v1/projects", { name: text, created_by: name }],
  invite: (hub, rooms, text, name) => [hub, "/v1/invites", { project: "web-shop", room: rooms[0].room_id, role: text.slice(0, 64), harness: text.slice(0, 64), by: name }],
};

// lists are the pages that show all of a field.
const lists = {
  now: "ask", rooms: "room", tasks: "task", "tasks?tab=runs": "run", leases: "claim", "leases?tab=locks": "lock", agents: "session",
  knowledge: "decision", "knowledge?tab=artifacts": "artifact", "knowledge?tab=memory": "memory", settings: "project", "settings?tab=invites": "invite",
};

// write sends all strings to all fields, and returns how many each has taken. A field may refuse
// a string, with a code and words.
async function write(hub, rooms) {
  const taken = {};
  const jobs = Object.entries(fields).flatMap(([field, make]) => texts.map((text, i) => [field, ...make(hub, rooms, text, `evil-${i}`)]));
  const refusals = {};
  const worker = async () => {
    for (let job = jobs.shift(); job; job = jobs.shift()) {
      const [field, , path, body] = job;
      const answer = await fetch(hub.url + path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) });
      const said = await answer.json();
      taken[field] = (taken[field] ?? 0) + (said.ok ? 1 : 0);
      if (said.ok) continue;
      assert.ok(answer.status >= 400 && answer.status < 500 && said.code && said.error, `${field}: ${JSON.stringify(said)}`);
      refusals[`${field} ${said.code}`] = (refusals[`${field} ${said.code}`] ?? 0) + 1;
    }
  };
  await Promise.all(Array.from({ length: 24 }, worker));
  console.log("taken:", JSON.stringify(taken), "refused:", JSON.stringify(refusals));
  return taken;
}

// look runs in the page and returns what is wrong there, and the text that it shows. Whatever is
// outside of the box of main, and not cut off by a part that scrolls or clips, has escaped.
function look() {
  const wrong = [];
  const main = document.querySelector("main");
  const hidden = /(?![\n\t\u200c\u200d\ufe0e\ufe0f])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Variation_Selector}\p{Default_Ignorable_Code_Point}\u2028\u2029]/u;
  if (window.caught !== undefined) wrong.push("a string has run");
  if (document.documentElement.scrollWidth > innerWidth) wrong.push(`the page is ${document.documentElement.scrollWidth} wide`);
  if (hidden.test(document.title)) wrong.push(`the title hides a character`);
  const bounds = main.getBoundingClientRect();
  const spills = new Set();
  for (const element of document.querySelectorAll("body *")) {
    if (/^(script|iframe|frame|object|embed|base|style|link|meta|video|audio|marquee)$/i.test(element.localName)) wrong.push(`<${element.localName}>`);
    for (const { name, value } of element.attributes) {
      if (name.startsWith("on")) wrong.push(`${element.localName} has ${name}`);
      if (name !== "value" && hidden.test(value)) wrong.push(`${element.localName} hides a character in ${name}: ${JSON.stringify(value.slice(0, 80))}`);
    }
    if (element.localName === "a" && new URL(element.href).origin !== location.origin) wrong.push(`a link to ${element.href}`);
    if (element.localName === "img" && new URL(element.src).origin !== location.origin && !element.src.startsWith("data:image/svg")) wrong.push(`a picture of ${element.src}`);
  }
  for (const badge of main.querySelectorAll(".badge-operator")) {
    if (!badge.closest(".person[data-authority=operator]")) wrong.push("a badge of the operator that is none");
  }
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    if (hidden.test(node.data)) wrong.push(`a hidden character in ${node.parentElement.localName}.${node.parentElement.className}: ${JSON.stringify(node.data.slice(0, 80))}`);
    if (!main.contains(node)) continue;
    range.selectNodeContents(node);
    const box = range.getBoundingClientRect();
    if (box.width === 0 || (box.left >= bounds.left - 1 && box.right <= bounds.right + 1 && box.top >= bounds.top - 1)) continue;
    let cut = false;
    for (let up = node.parentElement; up !== main && !cut; up = up.parentElement) {
      const style = getComputedStyle(up);
      cut = style.overflowX !== "visible" || style.position === "fixed" || style.clipPath !== "none";
    }
    if (!cut) spills.add(`${node.parentElement.localName}.${node.parentElement.className} reaches ${Math.round(box.left)}–${Math.round(box.right)} of ${Math.round(bounds.left)}–${Math.round(bounds.right)}`);
  }
  return { wrong: [...wrong, ...spills].slice(0, 10), text: main.textContent };
}

describe(`hostile strings of seed ${seed}`, () => {
  let hub, browser, rooms, taken;
  before(async () => {
    hub = await Hub.start();
    browser = await Browser.start();
    await hub.post("/v1/projects", { name: "Web shop" });
    rooms = [];
    for (const name of ["Words", "Work", "Runs"]) {
      rooms.push(await hub.post("/v1/rooms", { project: "web-shop", name, created_by: "lead", force: true, force_reason: "a test" }));
    }
    // What a page of one thing shows, with all strings in one text.
    const all = texts.join("\n").slice(0, 31_000);
    await hub.say("a", { from_agent: "evil-0", channel: rooms[0].channel, thread_id: texts[0], body: all.slice(0, 15_000) });
    await hub.post("/v1/decisions", { room_id: rooms[0].room_id, title: "all", note: all, by: "evil-0" });
    for (const body of [all, `${all}\n${texts.toReversed().join("\n")}`]) {
      await hub.post("/v1/artifacts", { room_id: rooms[0].room_id, title: "all", kind: "doc", body, by: "evil-0" });
    }
    await hub.post("/v1/memory", { room_id: rooms[0].room_id, key: "all", text: all, by: "evil-0" });
    taken = await write(hub, rooms);
  });
  after(async () => {
    await browser?.close();
    await hub?.close();
  });

  // open watches all that a string could do beyond the page.
  async function open(viewport) {
    const tab = await browser.tab({ viewport, reducedMotion: "reduce" });
    const { page, wrong } = tab;
    page.on("dialog", (dialog) => (wrong.push(`a dialog: ${dialog.message()}`), dialog.dismiss()));
    page.on("download", () => wrong.push("a download"));
    page.on("popup", (other) => wrong.push(`a window: ${other.url()}`));
    page.on("frameattached", () => wrong.push("a frame"));
    page.on("request", (request) => {
      if (!request.url().startsWith(`${hub.url}/`) && !request.url().startsWith("data:image/svg")) wrong.push(`a request to ${request.url()}`);
    });
    await page.goto(await address(hub));
    await page.getByText("connected", { exact: true }).waitFor();
    return tab;
  }

  // up goes on to earlier messages of a room, and tells whether there are any.
  const up = (page) => page.evaluate(() => {
    const box = document.querySelector(".timeline");
    if (!box || (box.scrollTop === 0 && box.querySelector(".beginning"))) return false;
    box.scrollTop -= box.clientHeight * 0.9;
    return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))));
  });

  // see notes what a page shows, and goes through at most so many of its further pages.
  async function see(page, what, into, most) {
    const shown = new Set();
    for (let turn = 0; turn < most; turn++) {
      const { wrong, text } = await page.evaluate(look);
      for (const one of wrong.slice(0, 2)) into.push(`${what}: ${one}`);
      for (const number of numbers(text)) shown.add(number);
      if (await up(page)) continue;
      const next = page.getByRole("button", { name: /^(Next ›|Older)$/ });
      if ((await next.count()) !== 1 || (await next.isDisabled())) break;
      try {
        await next.click({ timeout: 5_000 });
      } catch (error) {
        if (await next.isDisabled()) break; // the list has become shorter
        throw error;
      }
      await settled(page);
    }
    return shown;
  }

  // untouched tells whether nothing of main is over the navigation, and main cuts off what letters
  // with many marks would paint there.
  const untouched = (page) => page.evaluate(() => {
    scrollTo(0, 0);
    const main = document.querySelector("main");
    const { left, top, right, bottom } = document.querySelector("header.side").getBoundingClientRect();
    for (let x = left + 1; x < right; x += 8) {
      for (let y = top + 1; y < Math.min(bottom - 1, innerHeight); y += 8) {
        if (document.elementsFromPoint(x, y).some((element) => main.contains(element))) return false;
      }
    }
    return getComputedStyle(main).overflowY === "clip";
  });

  it("are taken by most fields, and refused in words by the others", () => {
    for (const field of Object.keys(fields)) assert.ok(taken[field] >= 100, `${field} has taken ${taken[field]} of ${texts.length}`);
    for (const field of ["message", "task", "session"]) assert.ok(taken[field] >= 400, `${field} has taken ${taken[field]}`);
  });

  for (const [width, height] of [[1280, 800], [320, 568]]) {
    it(`are texts and nothing else on every page at ${width} pixels`, async () => {
      const { page, wrong, close } = await open({ width, height });
      const broken = [];
      // The narrow page shows the beginning of each list, and the wide one all of it.
      const whole = width > 1000;
      const all = { ...lists, [`rooms/${rooms[0].room_id}`]: "message" };
      const counts = {};
      const places = [...tabs, ...(await things(hub, rooms[0])), "agents/evil-8", "agents/evil-14", `rooms/${rooms[1].room_id}`, `rooms/${rooms[2].room_id}`];
      for (const page of ["no", "rooms", "agents", "tasks", "knowledge"]) places.push(`${page}/${encodeURIComponent(`${texts[8]} ${texts[0]}`)}`);
      for (const place of places) {
        await come(page, `${hub.url}/ui/${place}`);
        for (const more = page.getByRole("button", { name: /^Show more of the/ }); whole && (await more.count()); ) await press(more);
        counts[place] = (await see(page, place, broken, whole && place in all ? 400 : 2)).size;
        if (!(await untouched(page))) broken.push(`${place}: something is over the navigation`);
      }
      for (const [place, field] of Object.entries(whole ? all : {})) {
        if (counts[place] < taken[field]) broken.push(`${place} shows ${counts[place]} of ${taken[field]}`);
      }
      assert.equal(broken.join("\n"), "");
      assert.deepEqual(wrong.filter((one) => !/status of 40[04]/.test(one)), []); // of addresses that name nothing
      await close();
    });
  }
});
