#!/usr/bin/env node
// Starts the executable that npm has installed for this platform, and ends as it does.
"use strict";
const { spawn } = require("child_process");
const { constants } = require("os");
const windows = process.platform === "win32";
const platform = `hubcli-${process.platform}-${process.arch}`;

let program;
try {
  program = require.resolve(`${platform}/${windows ? "hubcli.exe" : "hubcli"}`);
} catch {
  console.error(`hubcli: the npm package ${platform} is not installed`);
  console.error("fix: install hubcli again without --omit=optional; if there is no such package, there is no hubcli for this platform");
  process.exit(1);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
// A terminal tells both of Ctrl-C; the executable decides what it means.
for (const name of ["SIGINT", "SIGQUIT"]) if (!windows) process.on(name, () => {});
for (const name of ["SIGTERM", "SIGHUP"]) if (!windows) process.on(name, () => child.kill(name));
child.on("error", (error) => {
  console.error(`hubcli: ${program} does not start: ${error.message}`);
  process.exit(1);
});
child.on("exit", (code, signal) => process.exit(signal ? 128 + constants.signals[signal] : code));
