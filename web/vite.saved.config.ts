import preact from "@preact/preset-vite";
import { defineConfig } from "vite";

// The viewer of a replay that is saved as a file: one script and one style, which are put into
// the file as they are.
export default defineConfig({
  plugins: [preact()],
  build: {
    outDir: "../capsule/replayfile/dist",
    emptyOutDir: true,
    target: "es2022",
    modulePreload: false,
    reportCompressedSize: false,
    cssCodeSplit: false,
    rolldownOptions: {
      input: "src/saved.tsx",
      output: { format: "iife", entryFileNames: "viewer.js", assetFileNames: "viewer[extname]" },
    },
  },
});
