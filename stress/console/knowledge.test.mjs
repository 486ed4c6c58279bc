// What a team knows, on the page: decisions, artifacts with their versions, memory, and the search.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, describe, it } from "node:test";
import { Hub, eventually } from "../outside/hub.mjs";
import { Browser, address, press } from "./browser.mjs";

const hostile = '<img src=x onerror="window.caught=1"><script>window.caught=1</script>\u202e';

describe("what a team knows", () => {
  let hub, browser, room, other, plans, binary;
  before(async () => {
    hub = await Hub.start();
    browser = await Browser.start();
    await hub.post("/v1/projects", { name: "Web shop" });
    room = await hub.post("/v1/rooms", { project: "web-shop", name: "Checkout", created_by: "lead" });
    other = await hub.post("/v1/rooms", { project: "web-shop", name: "Warehouse", created_by: "lead" });
    await hub.post("/v1/decisions", { room_id: room.room_id, title: "Round half up", note: "Because the bank does.\n\nTwo lines.", by: "lead" });
    await hub.post("/v1/decisions", { room_id: other.room_id, title: `Shelves ${hostile}`, note: `${hostile}\u0007`, by: "dev-a" });
    plans = [];
    for (const body of ["one\ntwo\nthree\n", "one\n2\nthree\nfour <b>bold</b>\n", "one\n2\nthree\nfour <b>bold</b>\nfive\n"]) {
      plans.push(await hub.post("/v1/artifacts", { room_id: room.room_id, title: "The plan", kind: "doc", by: "lead", body }));
    }
    binary = await hub.post("/v1/artifacts", {
      room_id: room.room_id, title: "logo.png", kind: "image", by: "lead", content_base64: Buffer.from([137, 80, 78, 71, 0, 255, 1]).toString("base64"),
    });
    for (const text of ["Port 6000", "Port 7000"]) await hub.post("/v1/memory", { room_id: room.room_id, key: "port", text, by: "lead" });
    await hub.post("/v1/memory", { room_id: room.room_id, key: "deploy", text: "Only on Mondays", scope: "project", by: "lead" });
    await hub.say("the oven is broken", { channel: room.channel, from_agent: "dev-a" });
  });
  after(async () => {
    await browser?.close();
    await hub?.close();
  });

  async function open(place, options) {
    const tab = await browser.tab(options);
    await tab.page.goto((await address(hub)).replace("/ui/#", `/ui/${place}#`));
    await tab.page.getByText("connected", { exact: true }).waitFor();
    return tab;
  }
  const heading = (page, name) => page.getByRole("heading", { level: 1, name }).waitFor();

  it("lists decisions, of one room or of all, live, and shows one with its reasons", async () => {
    const { page, wrong, close } = await open("knowledge");
    await page.getByText("Shelves").first().waitFor();
    await page.getByRole("combobox", { name: "Room" }).selectOption(room.room_id);
    await page.getByText("Shelves").first().waitFor({ state: "detached" });
    await hub.post("/v1/decisions", { room_id: room.room_id, title: "Ship on Friday", by: "lead" });
    await page.getByText("Ship on Friday").waitFor();
    await page.getByRole("link", { name: "Round half up" }).click();
    await heading(page, "Round half up");
    await page.getByText("Because the bank does.").waitFor();
    await page.reload();
    await page.getByText("Two lines.").waitFor();
    await page.getByRole("link", { name: "as it was then" }).click();
    await page.getByRole("slider", { name: "Moment" }).waitFor();
    await page.goBack();
    await page.getByText("Two lines.").waitFor();
    await page.goBack();
    await page.getByRole("combobox", { name: "Room" }).selectOption("");
    await page.getByRole("link", { name: /^Shelves <img/ }).click();
    await page.getByText("<U+202E><U+0007>").first().waitFor();
    assert.equal(await page.locator("main img, main script").count(), 0);
    assert.equal(await page.evaluate(() => window.caught), undefined);
    assert.deepEqual(wrong, []);
    await close();
  });

  it("shows the versions of an artifact, what has changed, and saves what is stored", async () => {
    const { page, wrong, close } = await open("knowledge?tab=artifacts");
    await page.getByText("version 3").waitFor();
    await page.getByRole("link", { name: "The plan" }).click();
    await heading(page, "The plan");
    await page.getByText("four <b>bold</b>").waitFor();
    await press(page.getByRole("button", { name: "What has changed since version 2" }));
    await page.getByRole("heading", { name: "From version 2 to version 3" }).waitFor();
    await page.getByRole("combobox", { name: "compared with" }).selectOption("version 1");
    await page.getByText("+3").waitFor();
    await page.getByText("−1").waitFor();
    const lines = await page.locator(".diff p").allTextContents();
    assert.deepEqual(lines, ["1 one", "2−two", "2+2", "3 three", "4+four <b>bold</b>", "5+five", "6 "]);
    assert.equal(await page.locator(".diff b").count(), 0);
    const [saved] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Download version 1" }).click()]);
    assert.equal(saved.suggestedFilename(), "The-plan-v1.txt");
    assert.equal(await readFile(await saved.path(), "utf8"), "one\ntwo\nthree\n");
    await page.getByRole("combobox", { name: "Version", exact: true }).selectOption("1");
    await page.getByText("An earlier version.").waitFor();
    await hub.post("/v1/artifacts", { room_id: room.room_id, title: "The plan", kind: "doc", by: "lead", body: "new" });
    await page.getByRole("link", { name: "Version 4" }).click();
    await page.getByText("new", { exact: true }).waitFor();
    assert.deepEqual(wrong, []);
    await close();
  });

  it("names what is no text, and saves it byte for byte", async () => {
    const { page, wrong, close } = await open(`knowledge/${binary.artifact_id}`);
    await page.getByText("This is no text, and is not shown.").waitFor();
    const [saved] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Download version 1" }).click()]);
    assert.equal(saved.suggestedFilename(), "logo-v1.png");
    assert.deepEqual([...(await readFile(await saved.path()))], [137, 80, 78, 71, 0, 255, 1]);
    assert.deepEqual(wrong, []);
    await close();
  });

  it("gives up on texts that are too different for a page", async () => {
    const long = (word) => Array.from({ length: 3000 }, (_, i) => word + i).join("\n");
    const rows = [];
    for (const word of ["a", "b"]) rows.push(await hub.post("/v1/artifacts", { room_id: other.room_id, title: "Long", kind: "log", body: long(word) }));
    const { page, wrong, close } = await open(`knowledge/${rows[1].artifact_id}?with=${rows[0].artifact_id}`);
    await page.getByText("too long or too different").waitFor();
    assert.deepEqual(wrong, []);
    await close();
  });

  it("shows the memory of a room and its project, and the history of a key", async () => {
    const { page, wrong, close } = await open("knowledge?tab=memory");
    await page.getByText("Port 7000").waitFor();
    await page.getByText("Only on Mondays").waitFor();
    assert.equal(await page.getByText("Port 6000").count(), 0);
    await press(page.getByRole("button", { name: "History of port" }));
    await page.getByText("Port 6000").waitFor();
    await page.getByText("in force", { exact: true }).waitFor();
    assert.equal(await page.getByText("Only on Mondays").count(), 0);
    await hub.post("/v1/memory", { room_id: room.room_id, key: "port", text: "Port 8000", by: "lead" });
    await page.getByText("Port 8000").waitFor();
    await page.goBack();
    await page.getByText("Only on Mondays").waitFor();
    assert.deepEqual(wrong, []);
    await close();
  });

  it("finds everything by its words, and leads to where it is", async () => {
    const { page, wrong, close } = await open("knowledge");
    await page.getByText("Round half up").waitFor();
    let last = "";
    const find = async (words, name) => {
      await page.keyboard.press("Escape");
      await page.keyboard.press("/");
      await page.waitForFunction(() => document.activeElement?.matches("[data-search]"));
      await page.keyboard.press("ControlOrMeta+a");
      await page.keyboard.type((last = words));
      await page.getByRole("link", { name }).first().click();
    };
    // back waits for the page of the search: keys before that are keys of another page.
    const back = async () => {
      await page.goBack();
      await page.waitForFunction((words) => document.querySelector("[data-search]")?.value === words, last);
    };
    await find("oven", /^#/);
    await page.getByText("the oven is broken").waitFor();
    await heading(page, /Message #/);
    await page.getByRole("link", { name: "in its place" }).click();
    await page.locator("[data-id].found").getByText("the oven is broken").waitFor();
    await page.goBack();
    await page.getByRole("link", { name: "as it was then" }).click();
    await page.getByRole("slider", { name: "Moment" }).waitFor();
    await page.locator(".timeline").getByText("the oven is broken").waitFor();
    await page.goBack();
    await heading(page, /Message #/);
    await back();
    assert.equal(await page.locator("mark").first().textContent(), "oven"); // the address has kept the search
    await page.getByText(/; the index is/).waitFor();
    await find("bank", "Round half up");
    await page.getByText("Because the bank does.").waitFor();
    await back();
    await find("mondays", "deploy");
    await page.getByText("Only on Mondays").waitFor();
    await back();
    await find("plan", "The plan");
    await heading(page, "The plan");
    await back();
    await page.getByRole("searchbox").fill("nobodywrotethis");
    await page.getByText("Nothing has these words.").waitFor();
    assert.deepEqual(wrong, []);
    await close();
  });

  it("shows long lists page by page", async () => {
    const crowd = await hub.post("/v1/rooms", { project: "web-shop", name: "Archive of all", created_by: "lead" });
    for (let i = 1; i <= 130; i++) await hub.post("/v1/decisions", { room_id: crowd.room_id, title: `Point ${i} of the list` });
    const { page, wrong, close } = await open(`knowledge?room=${crowd.room_id}`);
    await page.getByText("100 are shown, and there are more.").waitFor();
    assert.equal(await page.getByRole("link", { name: /^Point/ }).count(), 100);
    await press(page.getByRole("button", { name: "Older" }));
    await page.getByText("Point 1 of the list").waitFor();
    assert.equal(await page.getByRole("link", { name: /^Point/ }).count(), 30);
    await page.goBack();
    await page.getByText("Point 130 of the list").waitFor();
    assert.deepEqual(wrong, []);
    await close();
  });

  for (const [width, height] of [[320, 568], [1280, 800], [3840, 2160]]) {
    it(`fits ${width} pixels`, async () => {
      const { page, wrong, close } = await open("knowledge", { viewport: { width, height } });
      const places = ["knowledge", "knowledge?tab=artifacts", "knowledge?tab=memory", "knowledge?q=plan", `knowledge/${plans[1].artifact_id}?with=${plans[0].artifact_id}`];
      for (const place of places) {
        await page.goto(`${hub.url}/ui/${place}`);
        await eventually(`${place} is shown`, () => page.locator("main .known, main .known-one").count());
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${place} is wider than ${width}`);
      }
      assert.deepEqual(wrong, []);
      await close();
    });
  }
});
