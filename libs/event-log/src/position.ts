/** Place of an event: sequence of its commit in the stream and its index in the commit. */
export interface Position {
  sequence: number;
  index: number;
}

const POSITION = /^(0|[1-9][0-9]{0,15})\.(0|[1-9][0-9]{0,5})$/;

/** `<sequence>.<index>`: the SSE id, the checkpoint and the "as of" of answers. */
export const formatPosition = ({ sequence, index }: Position): string => `${sequence}.${index}`;

/** The inverse of {@link formatPosition}; undefined for anything else. */
export function parsePosition(text: string): Position | undefined {
  const match = POSITION.exec(text);
  return match ? { sequence: Number(match[1]), index: Number(match[2]) } : undefined;
}
