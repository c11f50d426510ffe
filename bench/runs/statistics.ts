/** The value below which that share of the values lies; NaN where there are none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const [low = Number.NaN, high = Number.NaN] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]];
  return (low + high) / 2;
};

/** Slope of a least-squares line through equally spaced values: change from one value to the next. */
export function slope(values: readonly number[]): number {
  const centre = (values.length - 1) / 2;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const spread = values.reduce((sum, _, index) => sum + (index - centre) ** 2, 0);
  return values.reduce((sum, value, index) => sum + (index - centre) * (value - mean), 0) / spread;
}
