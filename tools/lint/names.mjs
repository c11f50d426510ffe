// File and type names: concept.role.ts, with the roles from a closed list, and no names that say nothing.
const ROLES = [
  'controller',
  'consumer',
  'adapter',
  'process',
  'projection',
  'entity',
  'queries',
  'errors',
  'config',
  'module',
];
/** Roles that only contracts have: what other services read. */
const CONTRACT_ROLES = ['events', 'commands', 'queries', 'requests', 'states', 'definition', 'upcasters'];
const SPECS = /\.(int\.|e2e\.)?spec$/;
const FORBIDDEN = /^(utils?|helpers?|common|shared|base|managers?|impl)$/i;
const FORBIDDEN_TYPE = /^(I[A-Z][a-z]\w*|Base[A-Z]\w*|\w*(Utils?|Helpers?|Manager|Impl))$/;

/** Why a file's name is refused, or undefined. */
export function fileNameRefusal(file) {
  const parts = file.split('/');
  const forbidden = parts.flatMap((part) => part.split(/[.-]/)).find((word) => FORBIDDEN.test(word));
  if (forbidden) return `"${forbidden}" says nothing about what is inside; name the concept`;
  if (!/^(apps|libs)\/.*\.ts$/.test(file) || /\/(migrations|e2e)\//.test(file)) return undefined;
  const stem = parts[parts.length - 1].replace(/\.ts$/, '').replace(SPECS, '');
  const [concept, role, ...rest] = stem.split('.');
  if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(concept)) return `"${concept}" is not kebab-case`;
  if (role === undefined) return undefined;
  if (file.includes('/domain/')) return `a domain file has no role: "${concept}.ts"`;
  const roles = file.startsWith('libs/contracts/') ? CONTRACT_ROLES : ROLES;
  return rest.length === 0 && roles.includes(role)
    ? undefined
    : `"${role}" is no file role (${roles.join(', ')}); join the words of a concept with "-"`;
}

/** Why a type's or class's name is refused, or undefined. */
export function typeNameRefusal(name) {
  return FORBIDDEN_TYPE.test(name)
    ? `"${name}" carries a prefix or suffix that says nothing; name the concept`
    : undefined;
}
