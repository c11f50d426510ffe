import type { Migration } from '../migrations';

/** A step that is quick and one that changes data slowly. For specs. */
export const slowMigrations = (seconds: number): Migration[] => [
  {
    name: 'CreateItems',
    timestamp: 1_764_500_000_000,
    up: 'CREATE TABLE items (id int PRIMARY KEY, text text)',
  },
  {
    name: 'FillItems',
    timestamp: 1_764_500_000_001,
    up: async (tx) => {
      await tx.query(`INSERT INTO items SELECT n, 'item' FROM generate_series(1, 100) n`);
      await tx.query('SELECT pg_sleep($1)', [seconds]);
    },
  },
];
