/** Spec-only: works through a list, some at a time, to the end; then says all that went wrong. */
export async function inBranches<T>(
  list: readonly T[],
  branches: number,
  work: (one: T) => Promise<void>,
): Promise<void> {
  const rest = [...list];
  const failures: unknown[] = [];
  const branch = async (): Promise<void> => {
    for (let one = rest.shift(); one !== undefined; one = rest.shift())
      await work(one).catch((error: unknown) => failures.push(error));
  };
  await Promise.all(Array.from({ length: branches }, branch));
  if (failures.length > 0)
    throw failures.length === 1
      ? failures[0]
      : new AggregateError(failures, failures.slice(0, 5).map(String).join('\n\n'));
}
