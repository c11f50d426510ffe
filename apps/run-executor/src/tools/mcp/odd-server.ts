/** A child that ends by no signal but the last one, and has such a child itself; both are told to the file. */
const FAMILY = `
process.on('SIGTERM', () => {});
const grandchild = require('node:child_process').spawn(process.execPath, ['-e', 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000)']);
require('node:fs').appendFileSync(process.argv[1], 'family ' + process.pid + ' ' + grandchild.pid + '\\n');
setInterval(() => {}, 1000);
`;

/**
 * An MCP server for specs, run by `node -e`: speaks the protocol by hand so that it can misbehave. Lines that it appends
 * to the file of its first argument tell what it did.
 */
export const ODD_SERVER = `
const fs = require('node:fs');
const { spawn } = require('node:child_process');
const journal = (line) => fs.appendFileSync(process.argv[1], line + '\\n');
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
const text = (text) => ({ content: [{ type: 'text', text }] });
const tools = {
  echo: (id, given, meta) => send({ id, result: text(JSON.stringify({ given, key: meta['runyard/idempotency-key'], pid: process.pid })) }),
  big: (id) => send({ id, result: text('🟡'.repeat(3 * 1024 * 1024)) }),
  huge: (id) => send({ id, result: text('x'.repeat(40 * 1024 * 1024)) }),
  hang: () => journal('hang'),
  late: (id) => { journal('late'); process.on('message', () => {}); hooks.cancelled = () => send({ id, result: text('too late') }); },
  die: () => { journal('die'); process.kill(process.pid, 'SIGKILL'); },
  last: (id) => { send({ id, result: text('last words') }); process.exit(0); },
  child: (id) => {
    const child = spawn(process.execPath, ['-e', 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1000)'], { stdio: 'inherit' });
    send({ id, result: text(String(child.pid)) });
  },
  family: () => { journal('server ' + process.pid); spawn(process.execPath, ['-e', ${JSON.stringify(FAMILY)}, process.argv[1]], { stdio: 'inherit' }); },
  noise: (id) => { process.stdout.write('hello\\n{"json":1}\\n\\n'); process.stderr.write('e'.repeat(1024 * 1024)); send({ id, result: text('still here') }); },
  env: (id) => send({ id, result: text(JSON.stringify(process.env)) }),
  odd: (id) => send({ id, result: { content: [{ type: 'hologram' }, 7, { type: 'text', text: 'ok' }] } }),
  refuse: (id) => send({ id, error: { code: -32602, message: 'no such part' } }),
};
const hooks = { cancelled: () => {} };
const methods = {
  initialize: (id, params) => send({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'odd', version: '1' } } }),
  'tools/call': (id, params) => tools[params.name](id, params.arguments, params._meta ?? {}),
  'notifications/cancelled': () => { journal('cancelled'); hooks.cancelled(); },
};
let rest = '';
journal('started');
process.stdin.on('data', (chunk) => {
  const lines = (rest + chunk).split('\\n');
  rest = lines.pop();
  for (const line of lines) { const { id, method, params } = JSON.parse(line); methods[method]?.(id, params); }
});
process.stdin.on('end', () => { journal('input closed'); process.exit(0); });
`;
