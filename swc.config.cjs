// One transpiler set-up for jest and for the build; path aliases come from tsconfig.base.json.
const { paths } = require('./tsconfig.base.json').compilerOptions;

/** @returns {import('@swc/core').Options} */
exports.options = (sourceMaps = true) => ({
  swcrc: false,
  configFile: false,
  sourceMaps,
  inputSourceMap: false,
  jsc: {
    target: 'es2022',
    keepClassNames: true,
    baseUrl: __dirname,
    paths,
    parser: { syntax: 'typescript', decorators: true },
    transform: { legacyDecorator: true, decoratorMetadata: true, useDefineForClassFields: false },
  },
  module: { type: 'commonjs' },
});
