import { randomUUID } from 'node:crypto';
import { freshDatabase, projectionSpec } from '@runyard/testing';
import type { TestDatabase } from '@runyard/testing';
import { BUDGET_LEDGER_MIGRATIONS } from '../migrations';
import { MODEL_PRICES } from './prices.projection';

jest.setTimeout(120_000);

let database: TestDatabase;
beforeAll(async () => {
  database = await freshDatabase([{ service: 'budget-ledger', migrations: BUDGET_LEDGER_MIGRATIONS }]);
});
afterAll(() => database?.drop());

/** As it was said, and as rows hold it. */
const ODD = [
  ['0000-01-01T00:00:00Z', '0001-01-01 00:00:00'],
  ['9999-12-31T23:59:59-14:00', '9999-12-31 23:59:59.999'],
];

test('prices from times that no row holds, appended before requests were checked for it, stop nobody', async () => {
  const price = { currency: 'USD', input: '1', output: '2', cached: '0.5' };
  const prices = [...ODD.map(([from]) => from), '2026-01-01T00:00:00Z'].map((validFrom) => ({
    ...price,
    validFrom,
  }));
  const spec = projectionSpec(database.connect('budget-ledger'), MODEL_PRICES);
  await spec.given({
    context: 'catalogue',
    org: randomUUID(),
    id: 'models',
    events: [{ type: 'ModelAllowed', data: { model: { modelId: 'm', prices } } }],
  });
  const rows = await spec.rows<{ at: string }>(
    `SELECT (valid_from AT TIME ZONE 'UTC')::text AS at FROM model_prices ORDER BY valid_from`,
  );
  expect(rows.map(({ at }) => at)).toEqual([ODD[0]?.[1], '2026-01-01 00:00:00', ODD[1]?.[1]]);
});
