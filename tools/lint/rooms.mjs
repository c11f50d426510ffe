// The import table (docs/development.md, "Rooms"): which room may import what. An allow-list: what is not named is refused.
import { builtinModules } from 'node:module';
import path from 'node:path';

const BUILTIN = new Set(builtinModules);
const SPEC = /\.spec\.(ts|mjs)$|\/e2e\//;
const LIBRARIES = /^lib:(contracts|event-log|persistence|service)$/;
const PACKAGES = /^(node$|npm:)/;
const STORAGE_CLIENTS = /^npm:(typeorm|pg|@nestjs\/typeorm|@nats-io\/.*)$/;
/** What the launcher and the command line host of an app: its wiring, projections and migrations, never its insides. */
const HOSTED = /^app:[^/]+\/(.*\.module|config|projections|migrations)$/;

/** Place of a file as the table names it: `lib:contracts`, `app:gateway/handlers`, `app:gateway/config`, `deploy`. */
export function placeOf(file) {
  const [top, name, , ...inner] = file.replace(/\.(ts|mjs|cjs|js|json)$/, '').split('/');
  if (top === 'libs') return `lib:${name}`;
  return top === 'apps' ? `app:${name}/${inner[0] ?? ''}` : top;
}

/** What a specifier in a file points at: a place, `node`, or `npm:<package>`; `deep` marks a way around a public name. */
function targetOf(file, specifier) {
  if (specifier.startsWith('.')) {
    const target = path.posix.join(path.posix.dirname(file), specifier);
    const place = placeOf(target);
    return { place, target, deep: place.startsWith('lib:') && place !== placeOf(file) };
  }
  const [first, second, ...rest] = specifier.split('/');
  if (first.startsWith('node:') || BUILTIN.has(first)) return { place: 'node', target: specifier };
  if (first === '@runyard') return { place: `lib:${second}`, target: specifier, deep: rest.length > 0 };
  return { place: `npm:${first.startsWith('@') ? `${first}/${second}` : first}`, target: specifier };
}

const LIBRARY_ROOMS = {
  // For other services and scripts: types of the contracts, and nothing that has to be installed.
  client: [/^lib:(client|contracts)$/],
  contracts: [/^lib:contracts$/, /^npm:zod$/],
  'event-log': [/^lib:(event-log|contracts)$/, /^npm:@nats-io\//, /^node$/],
  persistence: [/^lib:(persistence|contracts)$/, /^npm:(typeorm|pg)$/, /^node$/],
  // Wires the other libraries into a process, so it may see their clients, but nothing of an app.
  service: [LIBRARIES, PACKAGES],
  testing: [LIBRARIES, /^lib:testing$/, PACKAGES, /^deploy$/],
};

const matches = (patterns) => (to) => patterns.some((pattern) => pattern.test(to.place));
const within = (app, folders) => new RegExp(`^app:${app}/(${folders})$`);

/** Rooms of an app by folder; folders that are not listed (models/, tools/ and the like) follow the rules of handlers. */
const APP_ROOMS = {
  domain: (app) => matches([/^lib:contracts$/, within(app, 'domain')]),
  projections: (app) => matches([/^lib:(contracts|persistence)$/, within(app, 'projections')]),
  migrations: (app) => matches([/^lib:(contracts|persistence)$/, /^npm:typeorm$/, within(app, 'migrations')]),
  wiring: (app) => matches([LIBRARIES, PACKAGES, within(app, '.*')]),
  handlers: (app) => outside(app, '(?!projections$|migrations$|main$|.*\\.module$).*'),
};

/** Handlers reach storage through libraries and their own queries only; entities and drivers stay behind them. */
function outside(app, folders) {
  const allowed = matches([LIBRARIES, PACKAGES, within(app, folders)]);
  return (to) => {
    if (STORAGE_CLIENTS.test(to.place)) return false;
    return allowed(to) || (within(app, 'projections').test(to.place) && to.target.endsWith('.queries'));
  };
}

function appRoom(app, folder) {
  const wiring = /^(main|config|types|.*\.(module|config))$/.test(folder);
  const name = wiring ? 'wiring' : folder in APP_ROOMS ? folder : 'handlers';
  return { name: wiring ? name : folder, may: APP_ROOMS[name](app) };
}

function specRoom(file) {
  const [top, name] = file.split('/');
  const everywhere = [LIBRARIES, /^lib:(client|testing)$/, PACKAGES, /^deploy$/];
  if (top === 'libs') return matches([...everywhere, new RegExp(`^lib:${name}$`)]);
  if (top === 'apps' && name !== 'cli') return matches([...everywhere, within(name, '.*')]);
  return matches([...everywhere, within('cli', '.*'), HOSTED, /^(bench|tools|examples)$/]);
}

/** The room of a file: its name, and whether it may import a target. */
function roomOf(file) {
  if (SPEC.test(file)) return { name: 'a spec', may: specRoom(file) };
  const [top, name] = file.split('/');
  if (top === 'libs') return { name, may: matches(LIBRARY_ROOMS[name] ?? []) };
  if (top === 'apps' && name === 'cli')
    return {
      name,
      may: matches([LIBRARIES, /^lib:client$/, PACKAGES, within('cli', '.*'), HOSTED, /^deploy$/]),
    };
  if (top === 'apps') return appRoom(name, placeOf(file).split('/')[1]);
  return {
    name: top,
    may: (to) => !/^lib:testing$/.test(to.place) && (!to.place.startsWith('app:') || HOSTED.test(to.place)),
  };
}

/** Why a file may not import something, or undefined where it may. */
export function refusalOf(file, specifier) {
  const to = targetOf(file, specifier);
  if (to.deep) return `import a library by its public name, not ${specifier}`;
  const room = roomOf(file);
  return room.may(to)
    ? undefined
    : `${room.name} may not import ${specifier}; see the table of rooms in docs/development.md`;
}
