import { InvalidToken, Problem } from '@runyard/contracts';
import { LogUnavailable, VersionConflict } from '@runyard/event-log';
import { createLogger } from './logger';
import { problemOf, toProblem } from './problem.adapter';

describe('failures as problems', () => {
  const lines: string[] = [];
  const logger = createLogger('spec', 'info', { write: (line) => void lines.push(line) });
  const codeOf = (error: unknown) => toProblem(error, logger, 'spec').code;

  it('are refusals that say what to do', () => {
    expect(codeOf(new Problem('agent_locked', 'x'))).toBe('agent_locked');
    expect(codeOf(new InvalidToken('agent id'))).toBe('invalid_request');
    expect(codeOf(new VersionConflict('s', 1, 2))).toBe('conflict');
    expect(codeOf(new LogUnavailable('no answer'))).toBe('unavailable');
    expect(codeOf(Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }))).toBe('unavailable');
  });

  it('hide what is unknown behind a reference that the log has', () => {
    const problem = toProblem(new Error('SELECT secret FROM users'), logger, 'agents.get');
    expect(problem.code).toBe('internal');
    expect(problem.message).not.toContain('secret');
    expect(lines.join()).toContain(String(problem.facts.reference));
    expect(lines.join()).toContain('SELECT secret');
  });

  it('survive the bus; a code of a newer version reads as internal', () => {
    expect(problemOf({ code: 'agent_locked', message: 'm', facts: { a: 1 } })).toMatchObject({
      code: 'agent_locked',
      message: 'm',
      facts: { a: 1 },
    });
    expect(problemOf({ code: 'from_the_future', message: 'm' }).code).toBe('internal');
  });
});
