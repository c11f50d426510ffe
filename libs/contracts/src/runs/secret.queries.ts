import { z } from 'zod';

/** `secrets.check`: how secrets of the caller's org stand with the executor that answers. Never their values. */
export const checkSecretsSchema = z.strictObject({
  names: z.array(z.string().min(1).max(120)).max(1_000),
});

/** `unsendable`: a header cannot carry it. */
export type SecretState = 'usable' | 'unsendable' | 'missing';

export interface SecretRow {
  name: string;
  state: SecretState;
}

/** Whether an HTTP header carries a text: printable ASCII without blanks. A line break would be read as another header. */
export const isHeaderText = (text: string): boolean => /^[\x21-\x7e]+$/.test(text);
