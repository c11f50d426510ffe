import type { UnknownType } from './projections';

/** Event types that a rebuild did not know, as the live projection did not (P8.9). */
export interface SkippedType {
  type: string;
  times: number;
  first_position: string;
}

export class Skipped {
  private readonly seen = new Map<string, SkippedType>();

  note({ type, position }: UnknownType): void {
    const seen = this.seen.get(type) ?? { type, times: 0, first_position: position };
    this.seen.set(type, { ...seen, times: seen.times + 1 });
  }

  types(): SkippedType[] {
    return [...this.seen.values()];
  }
}
