// Preloaded (`node -r`) into processes that specs start and kill: lets plain Node run the workspace's TypeScript.
const path = require('node:path');
const root = path.join(__dirname, '../../..');
const { transformFileSync } = require('@swc/core');
const { options } = require(path.join(root, 'swc.config.cjs'));

require.extensions['.ts'] = (module, filename) =>
  module._compile(transformFileSync(filename, { ...options(false), filename }).code, filename);
