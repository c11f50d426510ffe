// The project's own lint rules, loaded by oxlint (.oxlintrc.json, jsPlugins). tools/lint.int.spec.ts proves that each fires.
import path from 'node:path';
import { ACROSS_ORGS } from './across-orgs.mjs';
import { fileNameRefusal, typeNameRefusal } from './names.mjs';
import { refusalOf } from './rooms.mjs';

const fileOf = (context) => path.relative(context.cwd, context.filename).split(path.sep).join('/');
const rule = (create) => ({
  meta: { type: 'problem' },
  create: (context) => create(context, fileOf(context)),
});
const literal = (node) =>
  node?.type === 'Literal' && typeof node.value === 'string' ? node.value : undefined;
const nameOf = (node) =>
  node.type === 'Identifier' ? node.name : node.type === 'MemberExpression' ? node.property.name : undefined;

/** Imports follow the table of rooms. */
const rooms = rule((context, file) => {
  const check = (source) => {
    const specifier = literal(source);
    const message = specifier === undefined ? undefined : refusalOf(file, specifier);
    if (message) context.report({ node: source, message });
  };
  return {
    ImportDeclaration: (node) => check(node.source),
    ExportNamedDeclaration: (node) => check(node.source),
    ExportAllDeclaration: (node) => check(node.source),
    ImportExpression: (node) => check(node.source),
    TSImportType: (node) => check(node.source ?? node.argument?.literal),
    CallExpression: (node) => node.callee.name === 'require' && check(node.arguments[0]),
  };
});

const IMPURE_GLOBALS = new Set([
  'performance',
  'process',
  'crypto',
  'fetch',
  'setTimeout',
  'setInterval',
  'setImmediate',
  'queueMicrotask',
]);
const IMPURE_MEMBERS = new Set(['Date.now', 'Math.random']);

/** Deciders and projections are functions of their input: a replay years later must give the same result. */
const pure = rule((context) => {
  const report = (node, what) =>
    context.report({ node, message: `${what} makes this impure; let the handler fetch it and pass it in` });
  return {
    MemberExpression: (node) => {
      const member = `${node.object.name}.${node.property.name}`;
      if (IMPURE_MEMBERS.has(member)) report(node, member);
      else if (node.object.type === 'Identifier' && IMPURE_GLOBALS.has(node.object.name))
        report(node, node.object.name);
    },
    NewExpression: (node) =>
      node.callee.name === 'Date' && node.arguments.length === 0 && report(node, 'new Date()'),
    CallExpression: (node) => {
      const { name } = node.callee;
      if (IMPURE_GLOBALS.has(name) || (name === 'Date' && node.arguments.length === 0)) report(node, name);
    },
  };
});

/** Rows of several tenants are touched in listed files only. */
const acrossOrgs = rule((context, file) => ({
  CallExpression: (node) => {
    if (nameOf(node.callee) !== 'acrossOrgs' || ACROSS_ORGS.some((pattern) => pattern.test(file))) return;
    context.report({
      node,
      message:
        'acrossOrgs() passes by tenant isolation; use inOrg(), or list this file in tools/lint/across-orgs.mjs',
    });
  },
}));

const SENDS = new Set(['publish', 'subscribe', 'onAppend', 'requestMany']);
const built = (node) =>
  (node?.type === 'TemplateLiteral' && node.expressions.length > 0) ||
  (node?.type === 'BinaryExpression' && node.operator === '+');

/** Subjects come from contracts/subjects.ts, which refuses ids that would widen a subscription to other tenants (C65). */
const subjects = rule((context, file) => {
  // event-log speaks the server's own interface ($JS.API…), whose subjects are no tenant's.
  const ownsClient = file.startsWith('libs/event-log/');
  const message =
    'build subjects with the functions of @runyard/contracts: a raw id may hold ".", "*" or ">"';
  return {
    CallExpression: (node) => {
      const subject = SENDS.has(nameOf(node.callee)) ? node.arguments[0] : undefined;
      if (built(subject) && !ownsClient) context.report({ node: subject, message });
    },
    TemplateLiteral: (node) => {
      if (node.expressions.length > 0 && node.quasis[0].value.raw.startsWith('runyard.'))
        context.report({ node, message });
    },
  };
});

/** `as unknown as` silences the compiler where it is needed most. */
const doubleAssertion = rule((context) => ({
  TSAsExpression: (node) => {
    if (
      node.expression.type === 'TSAsExpression' &&
      node.expression.typeAnnotation.type === 'TSUnknownKeyword'
    ) {
      context.report({ node, message: 'narrow the value by a check or a schema instead of asserting twice' });
    }
  },
}));

/** Files and types have names that say what is inside. */
const names = rule((context, file) => {
  const check = (node, message) => message && context.report({ node, message });
  const named = (node) => node.id && check(node.id, typeNameRefusal(node.id.name));
  return {
    Program: (node) => check(node, fileNameRefusal(file)),
    ClassDeclaration: named,
    TSInterfaceDeclaration: named,
    TSTypeAliasDeclaration: named,
  };
});

export default {
  meta: { name: 'runyard' },
  rules: { rooms, pure, 'across-orgs': acrossOrgs, subjects, 'double-assertion': doubleAssertion, names },
};
