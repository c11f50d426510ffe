#!/usr/bin/env node
// Runs the built command line; builds it first where it is missing or older than its sources.
const { spawnSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');

const root = path.resolve(__dirname, '../../..');
const main = path.join(root, 'dist/apps/cli/src/main.js');

/** When the newest source that the command line may load was changed. */
function newestSource() {
  let newest = 0;
  for (const room of ['apps', 'libs'])
    for (const file of fs.readdirSync(path.join(root, room), { recursive: true }))
      if (String(file).endsWith('.ts') && !String(file).includes('node_modules'))
        newest = Math.max(newest, fs.statSync(path.join(root, room, String(file))).mtimeMs);
  return newest;
}

// An installed package has no build script and needs none.
const build = path.join(root, 'tools/build.mjs');
if (fs.existsSync(build) && (!fs.existsSync(main) || fs.statSync(main).mtimeMs < newestSource())) {
  // stdout is for data: what the build says goes to stderr.
  const built = spawnSync(process.execPath, [build], { cwd: root, stdio: ['ignore', 2, 2] });
  if (built.status !== 0) process.exit(2);
}
require(main);
