// Where things are on every page, with small and big teams, at three widths: names and words stay whole, nothing
// lies on another thing, no page is wider than its window, and none goes on below its last line.
//
// CONSOLE_PICTURES names the folder of the pictures that are taken of each page on the way, in both themes. They are
// hundreds and take a minute, so they are for a person who has named a folder, and not taken for the usual one.

import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { Hub } from "../outside/hub.mjs";
import { Browser, address } from "./browser.mjs";
import { geometry } from "./geometry.mjs";
import { go, tabs, things } from "./places.mjs";
import { team } from "./team.mjs";

const named = process.env.CONSOLE_PICTURES ?? "";
const pictures = named.endsWith(join(".cache", "console-pictures")) ? "" : named;
const sizes = [[1440, 900], [1024, 768], [390, 844]];

describe("where things are", () => {
  let browser;
  before(async () => {
    browser = await Browser.start();
    if (pictures) await mkdir(pictures, { recursive: true });
  });
  after(() => browser?.close());

  for (const agents of [3, 12, 200]) {
    it(`is right on every page with ${agents} agents`, async () => {
      const hub = await Hub.start();
      try {
        const [room, ...others] = await team(hub, agents);
        const { page, wrong, close } = await browser.tab({ viewport: { width: 1440, height: 900 }, reducedMotion: "reduce" });
        await page.goto(await address(hub));
        await page.getByText("connected", { exact: true }).waitFor();
        const portray = pictures ? await portrayer(page) : null;
        const broken = [];
        const places = [...tabs, ...(await things(hub, room)), ...others.slice(0, 3).map((one) => `rooms/${one.room_id}`), `rooms/${room.room_id}?about=1`];
        for (const place of places) {
          await go(page, `/ui/${place}`);
          for (const [width, height] of sizes) {
            await page.setViewportSize({ width, height });
            for (const one of await page.evaluate(geometry)) broken.push(`${place}, ${width} pixels: ${one}`);
            await portray?.(`${agents} ${place} ${width}`);
          }
        }
        assert.equal(broken.join("\n"), "");
        assert.deepEqual(wrong, []);
        await close();
      } finally {
        await hub.close();
      }
    });
  }

  // portrayer returns what takes a picture of a page in both themes. It asks the browser for little
  // compression: there are hundreds of pictures.
  async function portrayer(page) {
    const session = await page.context().newCDPSession(page);
    return async (what) => {
      for (const colorScheme of ["light", "dark"]) {
        await page.emulateMedia({ colorScheme });
        const { data } = await session.send("Page.captureScreenshot", { format: "png", optimizeForSpeed: true });
        await writeFile(join(pictures, `${what} ${colorScheme}`.replaceAll(/[^a-z0-9]+/gi, "-") + ".png"), Buffer.from(data, "base64"));
      }
    };
  }
});
