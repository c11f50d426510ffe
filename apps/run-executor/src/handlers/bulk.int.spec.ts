import { eventually } from '@runyard/testing';
import { RunQueries } from '../projections/run.queries';
import { BulkController } from './bulk.controller';
import { TestExecutor } from './e2e/test-executor';
import { CALLER, World } from './e2e/world';

jest.setTimeout(300_000);

it('cancels what a filter finds, after a preview that does nothing, and says what became of each', async () => {
  await using world = await World.create();
  const never = new Promise<never>(() => undefined);
  const door = await TestExecutor.start(world, {
    model: (request) => (JSON.stringify(request.messages).includes('long') ? never : { text: 'done' }),
    tool: () => ({ ok: true, text: '' }),
  });
  const long = [await world.start('long 1'), await world.start('long 2')];
  const short = await world.start('short');
  await world.ended(short);
  await Promise.all([...long, short].map((runId) => world.row(runId)));
  const bulk = new BulkController(new RunQueries(world.db), door.controls);
  const ask = (preview: boolean) =>
    bulk.bulk(CALLER, { action: 'cancel', filter: { agent_id: 'agent' }, preview });
  const preview = await ask(true);
  expect(preview).toMatchObject({ count: 2, more: false, results: [] });
  expect(preview.sample.toSorted()).toEqual(long.toSorted());
  const done = await ask(false);
  expect(done.results.map(({ run_id: id }) => id).toSorted()).toEqual(long.toSorted());
  await Promise.all(long.map((runId) => world.ended(runId)));
  await eventually(async () => (await ask(true)).count === 0);
});
