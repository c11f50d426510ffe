import { createLogger, nestLogger, scrub } from './logger';
import { withContext } from './request-context';

function logged(work: (logger: ReturnType<typeof createLogger>) => void): Record<string, unknown>[] {
  const lines: string[] = [];
  work(createLogger('spec', 'debug', { write: (line) => void lines.push(line) }));
  return lines.map((line) => JSON.parse(line));
}

describe('the logger', () => {
  it('writes JSON with the service, and the ids of the work in hand', () => {
    const [line] = logged((logger) =>
      withContext({ requestId: 'r-1', org: 'o-1', runId: 'run_1' }, () => logger.info({ step: 2 }, 'a step')),
    );
    expect(line).toMatchObject({
      level: 'info',
      service: 'spec',
      requestId: 'r-1',
      org: 'o-1',
      runId: 'run_1',
      step: 2,
      msg: 'a step',
    });
    expect(Date.parse(String(line?.time))).not.toBeNaN();
  });

  it('prints no secret that stands in a field or a text', () => {
    const key = `ry_live_${'a'.repeat(43)}_abcdef`;
    const lines = logged((logger) => {
      logger.info(
        {
          headers: { authorization: 'Bearer abcdefghijkl' },
          config: { password: 'hunter2' },
          apiKey: 'hunter2',
        },
        'x',
      );
      logger.error({ err: new Error('connect postgres://root:hunter2@db/x failed') }, `presented ${key}`);
      logger.info('Authorization: Bearer hunter2hunter2 and sk-hunter2hunter2hunter2');
    });
    expect(JSON.stringify(lines)).not.toMatch(/hunter2|aaaa|abcdefghijkl/);
    expect(lines[1]).toMatchObject({
      msg: 'presented ry_live_[redacted]',
      err: { message: 'connect postgres://[redacted]@db/x failed' },
    });
  });

  it('leaves other texts alone', () =>
    expect(scrub('run_1 at https://example.org/a@b')).toBe('run_1 at https://example.org/a@b'));

  it('takes what Nest says, its chatter as debug', () => {
    const lines = logged((logger) => {
      const nest = nestLogger(logger);
      nest.log('Mapped route', 'Router');
      nest.error(new Error('broken'));
    });
    expect(lines.map(({ level, msg }) => [level, msg])).toEqual([
      ['debug', 'Mapped route'],
      ['error', 'broken'],
    ]);
  });
});
