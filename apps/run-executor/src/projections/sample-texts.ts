import type { NewEvent, RunEvent, StoredText } from '@runyard/contracts';

export type DataOf<E extends RunEvent> = E['data'];

/** An event of a run, its data checked against its name. */
export const event = <T extends RunEvent['type']>(
  type: T,
  data: DataOf<Extract<RunEvent, { type: T }>>,
): NewEvent<T> => ({
  type,
  data,
});

export const text = (content: string): StoredText => ({ text: content });
