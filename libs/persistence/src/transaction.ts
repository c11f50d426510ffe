import { AsyncLocalStorage } from 'node:async_hooks';
import type { Client, ClientBase, PoolClient } from 'pg';
import { rowsOf } from './connections';
import { statementName } from './statement-names';
import { isPassing, SecondConnection, TransactionMisused } from './database.errors';
import type { Tx } from './types';

interface Held {
  name: string;
  open: boolean;
}

/** Of the whole process: two services in one process must not wait for each other's pools either. */
const held = new AsyncLocalStorage<Held>();

/** Throws SecondConnection inside a transaction. Work that a transaction started and that outlives it may ask again. */
export function refuseInsideTransaction(asked: string): void {
  const outer = held.getStore();
  if (outer?.open) throw new SecondConnection(asked, outer.name);
}

/** What is asked in the same turn of the event loop goes out with one system call. */
function sendTogether(client: ClientBase): void {
  // Whatever a pool hands out is a whole client.
  const { stream } = (client as Client).connection;
  stream.cork();
  process.nextTick(() => stream.uncork());
}

/** A transaction's door: closed at the end, so that a forgotten promise cannot write into somebody else's transaction. */
class OpenTx implements Tx {
  private running = 0;
  private open = true;
  /** Its connection keeps a statement that can no longer be carried out. */
  outdated = false;

  constructor(
    private readonly client: ClientBase,
    private readonly prepared: boolean,
  ) {}

  async query<Row>(sql: string, params?: readonly unknown[]): Promise<Row[]> {
    if (!this.open)
      throw new TransactionMisused('A query came after its transaction had ended; await every query inside');
    this.running++;
    sendTogether(this.client);
    try {
      return await rowsOf<Row>(this.client, sql, params, this.prepared ? statementName(sql) : undefined);
    } catch (error) {
      this.outdated ||= isOutdated(error);
      throw error;
    } finally {
      this.running--;
    }
  }

  /** Nothing is taken any more. */
  end(): void {
    this.open = false;
  }

  /** Throws TransactionMisused where something is still under way. */
  requireQuiet(): void {
    if (this.running > 0)
      throw new TransactionMisused(`${this.running} queries still ran when the work ended; await them`);
  }
}

/** A statement that a connection keeps gives other columns since a migration, or is not there: refused for ever on it. */
const isOutdated = (error: unknown): boolean => {
  const { code, routine } = Object(error) as { code?: string; routine?: string };
  return code === '26000' || (code === '0A000' && routine === 'RevalidateCachedQuery');
};

async function perform<T>(
  client: ClientBase,
  tx: OpenTx,
  begin: string,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  // What the work asks follows at once. Should its BEGIN come to nothing, writes are refused: a pool's connections only
  // read outside of transactions.
  sendTogether(client);
  const begun = client.query(begin);
  begun.catch(() => undefined);
  const result = await work(tx).finally(() => tx.end());
  await begun;
  tx.requireQuiet();
  const { command } = await client.query('COMMIT');
  // The server answers ROLLBACK to the COMMIT of a failed transaction: some error inside was swallowed.
  if (command !== 'COMMIT')
    throw new TransactionMisused('A statement failed, its error was swallowed, and nothing was committed');
  return result;
}

/** Rolls back; true where the connection is known to be clean afterwards. */
async function rolledBack(client: ClientBase, error: unknown): Promise<boolean> {
  // After a lost connection or a time-out on our side nobody knows what the server is doing on it.
  if (isPassing(error) && !('severity' in Object(error))) return false;
  try {
    await client.query('ROLLBACK');
    return true;
  } catch {
    return false;
  }
}

export interface Transaction {
  name: string;
  /** Statements that open it, READ WRITE. */
  begin: string;
  /** Whether its statements are kept by the connection. */
  prepared: boolean;
}

/** Runs `work` between `begin` and COMMIT on a client of a pool, and gives the client back, or destroys it where its state is not known. */
export async function transact<T>(
  client: PoolClient,
  transaction: Transaction,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  const { name, begin, prepared } = transaction;
  const holding: Held = { name, open: true };
  const tx = new OpenTx(client, prepared);
  try {
    const result = await held.run(holding, () => perform(client, tx, begin, work));
    client.release();
    return result;
  } catch (error) {
    client.release(!(await rolledBack(client, error)) || tx.outdated);
    throw error;
  } finally {
    holding.open = false;
  }
}
