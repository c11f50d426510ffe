/** An operation as a description of an HTTP API holds it. */
export interface DescribedOperation {
  operationId?: string;
  summary?: string;
  tags?: string[];
  parameters?: { name: string; in: string }[];
  responses?: Record<string, unknown>;
}

interface ApiDocument {
  tags?: { name: string; description?: string }[];
  paths?: Record<string, Record<string, DescribedOperation>>;
}

/** What our own rules miss in a description: names, sentences and refusals that its schema does not demand. */
export function apiFaults(document: ApiDocument): string[] {
  const tags = new Set((document.tags ?? []).map(({ name }) => name));
  const silent = (document.tags ?? [])
    .filter(({ description }) => !description)
    .map(({ name }) => `tag ${name}: no description`);
  const ids = new Map<string, string>();
  const found = Object.entries(document.paths ?? {}).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, operation]) => {
      const at = `${method.toUpperCase()} ${path}`;
      const twin = ids.get(operation.operationId ?? '');
      ids.set(operation.operationId ?? '', at);
      return [
        ...operationFaults(path, operation, tags),
        ...(twin ? [`shares its operationId with ${twin}`] : []),
      ].map((fault) => `${at}: ${fault}`);
    }),
  );
  return [...silent, ...found];
}

function operationFaults(path: string, operation: DescribedOperation, tags: ReadonlySet<string>): string[] {
  const statuses = Object.keys(operation.responses ?? {});
  const named = (operation.parameters ?? []).filter((one) => one.in === 'path').map(({ name }) => name);
  const wanted = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? '');
  const rules: [boolean, string][] = [
    [!/^[a-z_]+$/.test(operation.operationId ?? ''), 'no operationId of lower-case words'],
    [!operation.summary, 'no summary'],
    [(operation.summary ?? '').endsWith('.'), 'a summary that ends with a full stop'],
    [!operation.tags?.every((tag) => tags.has(tag)), 'a tag that is not described'],
    [!statuses.some((status) => status.startsWith('2')), 'no answer of success'],
    [!statuses.some((status) => status.startsWith('4')), 'no refusal'],
    [!statuses.includes('500'), 'no answer for a defect of ours'],
    [[...named].sort().join() !== [...wanted].sort().join(), 'parameters that differ from the path'],
  ];
  return rules.filter(([broken]) => broken).map(([, fault]) => fault);
}
