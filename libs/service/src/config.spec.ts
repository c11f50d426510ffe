import { z } from 'zod';
import { ConfigError, readConfig, readEnv } from './config';

const WORKING = {
  DATABASE_URL: 'postgres://a:secret@db/runyard',
  DATABASE_ACROSS_URL: 'postgres://b:secret@db/runyard',
};

describe('configuration', () => {
  it('has defaults for everything but the databases', () => {
    expect(readConfig(WORKING)).toEqual({
      nats: { servers: ['nats://127.0.0.1:4222'], user: undefined, password: undefined },
      database: {
        url: WORKING.DATABASE_URL,
        acrossUrl: WORKING.DATABASE_ACROSS_URL,
        ownerUrl: undefined,
        poolSize: 10,
      },
      ops: { host: '127.0.0.1', port: 9090 },
      logLevel: 'info',
      rpcConcurrency: 64,
      shutdownMs: 20_000,
    });
  });

  it('takes an empty variable as unset and several servers of a cluster', () => {
    const config = readConfig({ ...WORKING, RUNYARD_LOG_LEVEL: '', NATS_URL: 'nats://a:4222,nats://b:4222' });
    expect(config.logLevel).toBe('info');
    expect(config.nats.servers).toEqual(['nats://a:4222', 'nats://b:4222']);
  });

  it('names every variable that is wrong or missing, and no value', () => {
    const wrong = {
      DATABASE_URL: 'mysql://root:hunter2@db',
      RUNYARD_OPS_PORT: '99999',
      RUNYARD_LOG_LEVEL: 'loud-hunter2',
      RUNYARD_RPC_CONCURRENCY: '0',
    };
    const error = failure(() => readConfig(wrong));
    expect(error.variables).toEqual([
      { name: 'DATABASE_URL', detail: 'must be a postgres:// URL' },
      { name: 'DATABASE_ACROSS_URL', detail: 'is required' },
      { name: 'RUNYARD_OPS_PORT', detail: 'must be a whole number from 0 to 65535' },
      { name: 'RUNYARD_LOG_LEVEL', detail: 'must be debug, info, warn, error or silent' },
      { name: 'RUNYARD_RPC_CONCURRENCY', detail: 'must be a whole number from 1 to 10000' },
    ]);
    expect(`${error.message}${JSON.stringify(error)}`).not.toContain('hunter2');
  });

  it('says no value even where a schema would', () => {
    const chatty = z.object({
      TOKEN: z.string().refine(() => false, { error: ({ input }) => `got ${String(input)}` }),
    });
    expect(failure(() => readEnv(chatty, { TOKEN: 'hunter2' })).message).not.toContain('hunter2');
  });
});

function failure(work: () => unknown): ConfigError {
  try {
    work();
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error('It was not refused');
}
