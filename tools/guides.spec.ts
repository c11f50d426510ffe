// A guide that names what does not exist is worse than none: routes and bodies are held against the published description.
import fs from 'node:fs';
import path from 'node:path';
import Ajv2020 from 'ajv/dist/2020';

const root = path.resolve(__dirname, '..');
const guides = fs.readdirSync(path.join(root, 'docs')).filter((name) => name.endsWith('.md'));
const textOf = (name: string) => fs.readFileSync(path.join(root, 'docs', name), 'utf8');

interface Operation {
  parameters?: { name: string; in: string }[];
  requestBody?: { content: Record<string, { schema: object }> };
}
const description = JSON.parse(fs.readFileSync(path.join(root, 'docs/openapi.json'), 'utf8')) as {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: object };
};

const ROUTE = /\b(GET|POST|PUT|PATCH|DELETE) (\/v1\/[^\s`"'|)]*)/g;
/** Segments where the guide or the description leaves a place open fit anything. */
const fits = (said: string, route: string): boolean => {
  const [ours, theirs] = [said.split('/'), route.split('/')];
  return (
    ours.length === theirs.length &&
    theirs.every((segment, i) => segment.startsWith('{') || segment === ours[i])
  );
};

function operationOf(method: string, said: string): Operation | undefined {
  const [where = ''] = said.split('?');
  const found = Object.keys(description.paths).filter((route) => fits(where, route));
  // A route that says it word for word comes before one that has a place for it.
  const route = found.find((one) => one === where) ?? found.find((one) => description.paths[one]?.[method]);
  return route === undefined ? undefined : description.paths[route]?.[method];
}

test.each(guides)('every route in docs/%s exists, with the parameters that it names', (name) => {
  const wrong = [...textOf(name).matchAll(ROUTE)].flatMap(([, method = '', said = '']) => {
    const operation = operationOf(method.toLowerCase(), said);
    if (!operation) return [`${method} ${said}`];
    const asked = [...new URLSearchParams(said.split('?')[1] ?? '').keys()];
    const known = (operation.parameters ?? []).flatMap((one) => (one.in === 'query' ? [one.name] : []));
    return asked.filter((one) => !known.includes(one)).map((one) => `${method} ${said}: ${one}`);
  });
  expect(wrong).toEqual([]);
});

describe('the owners’ guide', () => {
  const guide = textOf('owners-guide.md');
  const bodyOf = (operation: Operation | undefined) =>
    operation?.requestBody?.content['application/json']?.schema;

  test('every body that it shows is one that its route takes', () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    const shown = [...guide.matchAll(/```\n(POST|PUT|PATCH) (\S+)\n([\s\S]*?)\n```/g)];
    expect(shown.length).toBeGreaterThan(3);
    for (const [, method = '', said = '', body = ''] of shown) {
      const schema = {
        ...bodyOf(operationOf(method.toLowerCase(), said)),
        components: description.components,
      };
      const right = ajv.validate(schema, JSON.parse(body));
      expect({ said, errors: right ? null : ajv.errorsText() }).toEqual({ said, errors: null });
    }
  });

  test('every schedule that it shows can be saved', () => {
    const create = bodyOf(description.paths['/v1/agents']?.['post']) as {
      properties: { schedule: object };
    };
    const valid = new Ajv2020({ strict: false }).compile(create.properties.schedule);
    const shown = [...guide.matchAll(/`(\{"type"[^`]*\})`/g)].map(
      ([, text = '']) => JSON.parse(text) as unknown,
    );
    expect(shown).toHaveLength(4);
    for (const schedule of shown)
      expect({ schedule, valid: valid(schedule) }).toEqual({ schedule, valid: true });
  });
});
