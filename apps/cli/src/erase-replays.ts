import { escapeIdentifier } from 'pg';
import type { Installation } from './installation';
import type { Overwriting } from './overwriting';

/**
 * Takes away what replays have laid beside: rows as they were before hold what is erased now, and nothing takes it out of them.
 * Who wants them makes them anew.
 */
export async function dropReplays({ db }: Installation, { done }: Overwriting): Promise<void> {
  const found = await db.read((tx) =>
    tx.query<{ name: string }>(`SELECT nspname AS name FROM pg_namespace WHERE nspname LIKE 'replay\\_%'`),
  );
  for (const { name } of found) await db.statement(`DROP SCHEMA IF EXISTS ${escapeIdentifier(name)} CASCADE`);
  done.replays += found.length;
}
