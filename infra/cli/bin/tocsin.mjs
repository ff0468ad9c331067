#!/usr/bin/env node
// Every Node that knows modules must be able to read this file, and say what is missing.
const [major, minor] = process.versions.node.split('.').map(Number);
if (major > 22 || (major === 22 && minor >= 15)) {
  // The exit code is set by what is imported; an error of it ends the process with a stack, as a bug should.
  import('./run.mjs');
} else {
  process.stderr.write(`tocsin needs Node 22.15 or later, and was started with Node ${process.versions.node}\n`);
  process.exitCode = 2;
}
