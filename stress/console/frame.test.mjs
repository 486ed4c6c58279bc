// The frame around the pages: places and their addresses, keys, focus, colors, and what it says
// of its connection.

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Hub } from "../outside/hub.mjs";
import { Browser, address, press } from "./browser.mjs";

describe("the frame of the console", () => {
  let hub, browser, room;
  before(async () => {
    hub = await Hub.start();
    browser = await Browser.start();
    await hub.post("/v1/projects", { name: "Web shop" });
    room = await hub.post("/v1/rooms", { project: "web-shop", name: "Check out", created_by: "lead" });
    await hub.say("who takes the cart?", { channel: room.channel, from_agent: "lead" });
  });
  after(async () => {
    await browser?.close();
    await hub?.close();
  });

  async function open(options) {
    const tab = await browser.tab(options);
    await tab.page.goto(await address(hub));
    await tab.page.getByText("connected", { exact: true }).waitFor();
    return tab;
  }
  const heading = (page, name) => page.getByRole("heading", { level: 1, name }).waitFor();
  const path = (page) => new URL(page.url()).pathname;

  it("goes from page to page by links and keys, and back with the back button", async () => {
    const { page, wrong, close } = await open();
    await heading(page, "Now");
    assert.equal(path(page), "/ui/now");
    await page.getByRole("navigation").getByRole("link", { name: "Rooms" }).click();
    await heading(page, "Rooms");
    await page.waitForFunction(() => document.title === "Rooms · hubcli");
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await heading(page, "Check out");
    assert.equal(path(page), `/ui/rooms/${room.room_id}`);
    await page.getByText("who takes the cart?").waitFor();
    await page.goBack();
    await heading(page, "Rooms");
    await page.goBack();
    await heading(page, "Now");
    await page.goForward();
    await heading(page, "Rooms");
    await page.keyboard.press("g");
    await page.keyboard.press("n");
    await heading(page, "Now");
    assert.deepEqual(wrong, []);
    await close();
  });

  it("opens a place from its address, with a code and again after a reload", async () => {
    const { page, wrong, close } = await browser.tab();
    const place = `/ui/rooms/${room.room_id}`;
    await page.goto((await address(hub)).replace("/ui/#", `${place}#`));
    await heading(page, "Check out");
    await page.reload();
    await heading(page, "Check out");
    assert.equal(path(page), place);
    await page.goto(`${hub.url}/ui/no/such/place`);
    await heading(page, "Nothing is here");
    await page.getByRole("main").getByRole("link", { name: "Go to Now" }).click();
    await heading(page, "Now");
    assert.deepEqual(wrong, []);
    await close();
  });

  it("leaves links alone where the person wants a new tab", async () => {
    const { page, wrong, close } = await open();
    const [other] = await Promise.all([
      page.context().waitForEvent("page"),
      page.getByRole("navigation").getByRole("link", { name: "Rooms" }).click({ modifiers: ["Control"] }),
    ]);
    await other.waitForLoadState();
    assert.equal(path(other), "/ui/rooms");
    assert.equal(path(page), "/ui/now");
    assert.deepEqual(wrong, []);
    await close();
  });

  it("lists its keys, and no key works while a person types", async () => {
    const { page, wrong, close } = await open();
    await heading(page, "Now");
    await page.keyboard.press("?");
    const help = page.getByRole("dialog", { name: "Keys" });
    await help.getByText("next row").waitFor();
    await page.keyboard.press("g");
    await page.keyboard.press("r"); // not while a dialog is open
    await page.keyboard.press("Escape");
    await help.waitFor({ state: "detached" });
    const words = page.getByRole("textbox", { name: "Say something as the operator" });
    await words.fill("");
    await words.press("g");
    await words.press("r");
    assert.equal(await words.inputValue(), "gr");
    assert.equal(path(page), "/ui/now");
    await page.keyboard.press("Escape");
    await page.keyboard.press("g");
    await page.keyboard.press("r");
    await heading(page, "Rooms");

    // Whoever speaks to the browser turns keys of one letter off.
    await press(page.getByRole("button", { name: "Keys" }));
    await page.getByRole("checkbox").uncheck();
    await page.keyboard.press("Escape");
    await page.keyboard.press("g");
    await page.keyboard.press("n");
    assert.equal(path(page), "/ui/rooms");
    assert.deepEqual(wrong, []);
    await close();
  });

  it("gives the focus to the heading of a new page, and has a way past the navigation", async () => {
    const { page, wrong, close } = await open();
    await heading(page, "Now");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate(() => document.activeElement.id), "main");
    await page.getByRole("navigation").getByRole("link", { name: "Rooms" }).click();
    await page.waitForFunction(() => document.activeElement.tagName === "H1" && document.activeElement.textContent === "Rooms");
    await page.goBack();
    await page.waitForFunction(() => document.activeElement.tagName === "H1" && document.activeElement.textContent === "Now");
    assert.deepEqual(wrong, []);
    await close();
  });

  it("has the colors of the system until a person chooses, and keeps that", async () => {
    const { page, wrong, close } = await open({ colorScheme: "dark" });
    const ground = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    assert.equal(await ground(), "rgb(17, 19, 22)");
    await page.getByRole("combobox", { name: "Colors" }).selectOption("light");
    assert.equal(await ground(), "rgb(255, 255, 255)");
    await page.reload();
    await page.getByText("connected", { exact: true }).waitFor();
    assert.equal(await ground(), "rgb(255, 255, 255)");
    assert.deepEqual(wrong, []);
    await close();
  });

  it("says since when it is not connected, and has read everything anew when it is again", async () => {
    const { page, close } = await open();
    await page.keyboard.press("g");
    await page.keyboard.press("r");
    await page.getByText("Check out").waitFor();
    await hub.end("SIGKILL");
    await page.getByText("not connected", { exact: true }).waitFor({ timeout: 30_000 });
    await page.getByText(/Not connected since .*\. What is shown is as of then\./).waitFor();
    await page.getByText("Check out").waitFor(); // still shown
    await hub.run();
    await hub.post("/v1/rooms", { project: "web-shop", name: "Warehouse", created_by: "lead" });
    await page.getByText("connected", { exact: true }).waitFor({ timeout: 30_000 });
    await page.getByText("Warehouse").waitFor();
    assert.equal(await page.getByText(/Not connected since/).count(), 0);
    await close();
  });

  it("shows what cannot be seen, and no name draws a badge", async () => {
    const { page, wrong, close } = await open();
    await hub.say("turn \u202ereversed\u202c and \u0007bell, \u{e0041}tag, family 👩\u200d🚀", { from_agent: "you" });
    const row = page.getByRole("log").getByRole("listitem").filter({ hasText: "family" });
    await row.waitFor();
    assert.match(await row.textContent(), /turn <U\+202E>reversed<U\+202C> and <U\+0007>bell, <U\+E0041>tag, family 👩\u200d🚀/);
    assert.equal(await row.locator(".badge").count(), 0);
    assert.deepEqual(wrong, []);
    await close();
  });

  for (const [width, height] of [[320, 568], [375, 700], [1280, 800], [3840, 2160]]) {
    it(`fits ${width} pixels`, async () => {
      const { page, wrong, close } = await open({ viewport: { width, height } });
      for (const name of ["Now", "Rooms"]) {
        await page.getByRole("navigation").getByRole("link", { name, exact: true }).click();
        await heading(page, name);
        assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${name} is wider than ${width}`);
      }
      assert.deepEqual(wrong, []);
      await close();
    });
  }
});
