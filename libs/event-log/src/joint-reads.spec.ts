import { JointReads } from './joint-reads';

/** Questions that are answered by hand, in order. */
class Questions {
  readonly asked: { answer(value: string): void; fail(error: Error): void }[] = [];
  ask = (): Promise<string> => new Promise((answer, fail) => this.asked.push({ answer, fail }));
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

it('answers nobody with a read that began before he asked, and all who wait with one', async () => {
  const reads = new JointReads();
  const questions = new Questions();
  const first = reads.read('agent', questions.ask);
  const second = reads.read('agent', questions.ask);
  const third = reads.read('agent', questions.ask);
  expect(questions.asked).toHaveLength(1);
  questions.asked[0]!.answer('old');
  expect(await first).toBe('old');
  await settled();
  expect(questions.asked).toHaveLength(2);
  const fourth = reads.read('agent', questions.ask);
  questions.asked[1]!.answer('new');
  expect(await Promise.all([second, third])).toEqual(['new', 'new']);
  await settled();
  questions.asked[2]!.answer('newest');
  expect(await fourth).toBe('newest');
});

it('asks again after a failure, which only those hear who shared it', async () => {
  const reads = new JointReads();
  const questions = new Questions();
  const first = reads.read('agent', questions.ask);
  const second = reads.read('agent', questions.ask);
  questions.asked[0]!.fail(new Error('away'));
  await expect(first).rejects.toThrow('away');
  await settled();
  questions.asked[1]!.answer('there');
  expect(await second).toBe('there');
});

it('keeps keys apart', async () => {
  const reads = new JointReads();
  const questions = new Questions();
  void reads.read('a', questions.ask);
  void reads.read('b', questions.ask);
  expect(questions.asked).toHaveLength(2);
});
