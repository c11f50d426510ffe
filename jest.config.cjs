// One configuration for unit, integration and end-to-end specs.
const fs = require('node:fs');
const path = require('node:path');
const { options } = require('./swc.config.cjs');

// node_modules is transformed too (cached): jest's loader cannot require() ES modules on Node 20, and Nest 12, jose and others ship nothing else.
const plain = {
  swcrc: false,
  configFile: false,
  jsc: { target: 'es2022', parser: { syntax: 'ecmascript' } },
  module: { type: 'commonjs' },
};
const rooms = '{apps,libs,deploy,tools,bench,examples}';
const servers = (file) => {
  const full = path.join(__dirname, 'deploy/local', file);
  return fs.existsSync(full) ? full : undefined;
};

module.exports = {
  rootDir: __dirname,
  testEnvironment: 'node',
  // Brings one Postgres for the whole run; specs that need NATS start their own server.
  globalSetup: servers('jest-setup.mjs'),
  globalTeardown: servers('jest-teardown.mjs'),
  setupFiles: ['<rootDir>/jest.setup.cjs'],
  testMatch: [`<rootDir>/${rooms}/**/*.spec.{ts,mjs}`],
  testPathIgnorePatterns: ['/node_modules/', '<rootDir>/dist/'],
  modulePathIgnorePatterns: ['<rootDir>/dist/', '<rootDir>/.nx/'],
  moduleFileExtensions: ['ts', 'js', 'mjs', 'cjs', 'json', 'node'],
  transformIgnorePatterns: [],
  transform: {
    '\\.ts$': ['@swc/jest', options('inline')],
    '\\.m?js$': ['@swc/jest', plain],
  },
  cacheDirectory: '<rootDir>/.nx/jest',
  maxWorkers: 2,
  // A unit spec needs milliseconds, on a busy machine some seconds; integration specs set their own limit with jest.setTimeout.
  testTimeout: 30_000,
};
