import preact from "@preact/preset-vite";
import { defineConfig } from "vite";

// Node has it; its types are not worth a package here.
declare const process: { env: Record<string, string | undefined> };

const hub = process.env["HUB_BASE_URL"] ?? "http://127.0.0.1:6969";

// What the build writes is committed and embedded in the executable. It must be the same
// on every machine: no dates, no absolute paths, names by content.
export default defineConfig({
  base: "/ui/",
  define: { __HUB__: JSON.stringify(new URL(hub).host) }, // for work on the page alone; see proof.ts
  plugins: [preact()],
  build: {
    outDir: "../httpapi/console/dist",
    emptyOutDir: true,
    target: "es2022",
    assetsInlineLimit: 0, // a data: address is no address of the hub
    modulePreload: false,
    reportCompressedSize: false,
  },
  // For work on the page (npm run dev): a hub answers the calls. It takes calls of its own
  // page alone, so they are given its address.
  server: {
    proxy: { "^/(v1|metrics)": { target: hub, changeOrigin: true, headers: { origin: hub } } },
  },
});
