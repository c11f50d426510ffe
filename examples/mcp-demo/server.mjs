// A small MCP server for demonstrations: the stock of a parts counter. Same questions, same answers; nothing is kept but
// the orders of this process. Started by `node examples/mcp-demo/server.mjs`, speaks MCP over stdin and stdout.
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { z } from 'zod';

/** Part number → name, pieces on the shelf, pieces used per working day, working days until a delivery arrives. */
const PARTS = new Map([
  ['BRG-6204', { name: 'Ball bearing 6204', onHand: 34, dailyUse: 6, leadDays: 8 }],
  ['BLT-M8-40', { name: 'Bolt M8 × 40', onHand: 1_250, dailyUse: 90, leadDays: 5 }],
  ['SEAL-42', { name: 'Shaft seal 42 mm', onHand: 61, dailyUse: 4, leadDays: 12 }],
  ['FUSE-10A', { name: 'Fuse 10 A', onHand: 18, dailyUse: 1, leadDays: 3 }],
]);

/** Orders by idempotency key: saying the same thing twice orders once. */
const orders = new Map();

const part = z.string().describe('Part number, e.g. "BRG-6204".');
const reads = { readOnlyHint: true, idempotentHint: true, openWorldHint: false };
const text = (value) => ({ content: [{ type: 'text', text: JSON.stringify(value) }] });
const unknown = (number) => ({
  isError: true,
  content: [
    { type: 'text', text: `There is no part "${number}". Known parts: ${[...PARTS.keys()].join(', ')}.` },
  ],
});

const server = new McpServer({ name: 'parts-stock', version: '1.0.0' });

server.registerTool(
  'list_parts',
  {
    description: 'Lists the part numbers and names of the parts counter.',
    inputSchema: {},
    annotations: reads,
  },
  () => text([...PARTS].map(([number, { name }]) => ({ part: number, name }))),
);

server.registerTool(
  'stock_level',
  {
    description: 'Says how many pieces of a part are on the shelf.',
    inputSchema: { part },
    annotations: reads,
  },
  ({ part: number }) => {
    const found = PARTS.get(number);
    return found ? text({ part: number, name: found.name, on_hand: found.onHand }) : unknown(number);
  },
);

server.registerTool(
  'reorder_point',
  {
    description:
      'Says at how many pieces a part must be ordered again, how it is worked out, and whether that is now.',
    inputSchema: {
      part,
      safety_days: z.number().int().min(0).max(90).default(2).describe('Days of use kept in reserve.'),
    },
    annotations: reads,
  },
  ({ part: number, safety_days: safetyDays }) => {
    const found = PARTS.get(number);
    if (!found) return unknown(number);
    const { onHand, dailyUse, leadDays } = found;
    const reorderAt = dailyUse * (leadDays + safetyDays);
    return text({
      part: number,
      on_hand: onHand,
      reorder_at: reorderAt,
      worked_out_as: `${dailyUse} a day × (${leadDays} days of delivery + ${safetyDays} in reserve)`,
      reorder_now: onHand <= reorderAt,
    });
  },
);

server.registerTool(
  'place_order',
  {
    description: 'Orders pieces of a part from the supplier.',
    inputSchema: { part, quantity: z.number().int().min(1).max(10_000).describe('Pieces to order.') },
    annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
  },
  ({ part: number, quantity }, { _meta: meta }) => {
    if (!PARTS.has(number)) return unknown(number);
    const key = meta?.['runyard/idempotency-key'] ?? `without-key-${orders.size + 1}`;
    const order = orders.get(key) ?? { order: `PO-${1_001 + orders.size}`, part: number, quantity };
    orders.set(key, order);
    return text(order);
  },
);

await server.connect(new StdioServerTransport());
