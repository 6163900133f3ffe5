#!/usr/bin/env node
// Starts the program of the package for this system, and ends as it ends.
"use strict";
const { spawn } = require("node:child_process");
const { constants } = require("node:os");

const name = `@goldgate/${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`${name}/goldgate`);
} catch {
  const known = Object.keys(require("./package.json").optionalDependencies).join(", ");
  console.error(`goldgate: the package ${name} is not installed; there are ${known}. If yours is one of them, install again without --omit=optional`);
  process.exit(2);
}

const child = spawn(program, process.argv.slice(2), { stdio: "inherit" });
// A terminal sends its signals to both processes. Those of other senders are passed on, so that goldgate can end in its own way.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
child.on("error", (error) => {
  console.error(`goldgate: ${program} cannot be started: ${error.message}`);
  process.exit(3);
});
child.on("exit", (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
