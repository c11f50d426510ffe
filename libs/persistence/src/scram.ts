import { createHash, createHmac, pbkdf2Sync, randomBytes } from 'node:crypto';

/** RFC 5802 and what Postgres stores: 4096 rounds are its own default. */
const ROUNDS = 4096;

/** What Postgres stores of a password, so that no statement, and no server log of statements, ever holds the password itself. */
export function scramVerifier(password: string): string {
  const salt = randomBytes(16);
  const salted = pbkdf2Sync(password, salt, ROUNDS, 32, 'sha256');
  const key = (name: string) => createHmac('sha256', salted).update(name).digest();
  const stored = createHash('sha256').update(key('Client Key')).digest();
  return `SCRAM-SHA-256$${ROUNDS}:${salt.toString('base64')}$${stored.toString('base64')}:${key('Server Key').toString('base64')}`;
}
