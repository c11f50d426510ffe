import { isHeaderText } from '@runyard/contracts';
import { BeforeSending } from './exchange.errors';
import { misconfigured, notSent, reasonOf } from './outcomes';
import type { SecretReader, ToolFailure, ToolResult } from './types';

export interface Credential {
  ok: true;
  /** Undefined: the tool needs none. */
  value: string | undefined;
  name: string;
}

/** The value of a secret by name. A missing one is the deployment's fault; its text names the secret, never a value. */
export async function credential(
  secrets: SecretReader,
  org: string,
  name: string | undefined,
): Promise<Credential | ToolFailure> {
  if (name === undefined) return { ok: true, value: undefined, name: '' };
  let value: string | undefined;
  try {
    value = await secretValue(secrets, org, name);
  } catch (error) {
    return notSent(`Error: nothing was sent: ${reasonOf(error)}.`);
  }
  // A value that no header can carry (line breaks of a file, say) would fail with the value in the message.
  if (value !== undefined && isHeaderText(value)) return { ok: true, value, name };
  const fault =
    value === undefined
      ? 'is not set'
      : 'cannot be sent: it holds blanks, line breaks or characters outside ASCII';
  return misconfigured(`The credential "${name}" of this tool ${fault}; an administrator must set it.`);
}

/** The value of a secret. Throws BeforeSending where the store fails: whatever needs a secret has not begun. */
export async function secretValue(
  secrets: SecretReader,
  org: string,
  name: string,
): Promise<string | undefined> {
  try {
    return await secrets(org, name);
  } catch (error) {
    throw new BeforeSending(`the secret store failed (${reasonOf(error)})`);
  }
}

/** Shorter values are also ordinary words; taking those out would garble every answer. */
const SHORTEST_REDACTED = 6;

/** Takes a credential out of what a service echoes: results go to the model and into the log, values of secrets never do. */
export function redacted<R extends ToolResult>(
  result: R,
  { value, name }: Pick<Credential, 'name' | 'value'>,
): R {
  return value === undefined || value.length < SHORTEST_REDACTED
    ? result
    : { ...result, text: result.text.replaceAll(value, `[secret ${name}]`) };
}
