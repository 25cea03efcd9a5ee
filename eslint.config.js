// Biome checks style and common mistakes. ESLint adds rules that Biome lacks: unawaited promises, which need type
// information, and law 1 of ARCHITECTURE.md.
import tseslint from 'typescript-eslint'

const law1 = 'Law 1: time, randomness and I/O are injected. Take a Clock, a Random or a Transport instead.'
const restricted = (object, ...properties) => properties.map((property) => ({ object, property, message: law1 }))

const unspread =
  'A spread argument exhausts the call stack when the list is long: use append() of base, a loop or reduce()'
const spreads = [
  { selector: 'CallExpression[callee.property.name=/^(push|unshift|splice)$/] > SpreadElement', message: unspread },
  { selector: "CallExpression[callee.object.name='Math'] > SpreadElement", message: unspread },
  { selector: "CallExpression[callee.object.name='String'] > SpreadElement", message: unspread },
]

const unescaped = 'Texts of the cluster must stay texts: let Preact create elements and text nodes'
const markup = [
  { selector: "JSXAttribute[name.name='dangerouslySetInnerHTML']", message: unescaped },
  { selector: 'MemberExpression[property.name=/^(innerHTML|outerHTML|srcdoc)$/]', message: unescaped },
  {
    selector:
      'CallExpression[callee.property.name=/^(insertAdjacentHTML|write|writeln|createContextualFragment|parseFromString|setHTMLUnsafe)$/]',
    message: unescaped,
  },
]

const uncoded =
  'Throw a KubewrightError with a code if users can see it, a CaughtError if this package catches it, TypeError or RangeError for a wrong argument, unreachable() for a defect'
const errors = [
  { selector: "ThrowStatement > NewExpression[callee.name='Error']", message: uncoded },
  { selector: "CallExpression[callee.name='reject'] > NewExpression[callee.name='Error']", message: uncoded },
  { selector: "CallExpression[callee.property.name='reject'] > NewExpression[callee.name='Error']", message: uncoded },
  // Functions that create the error for a throw elsewhere.
  { selector: "ReturnStatement > NewExpression[callee.name='Error']", message: uncoded },
  { selector: "ArrowFunctionExpression > NewExpression.body[callee.name='Error']", message: uncoded },
  { selector: "ClassDeclaration[superClass.name='Error']", message: uncoded },
]

/**
 * Optional members are written `name?: T | undefined`: callers may pass what they may not have, and need not spread it
 * in on a condition. Types of Kubernetes' JSON are the exception (`jsonTypes`).
 */
const optionalMember = {
  meta: {
    fixable: 'code',
    messages: { written: 'Write optional members as `name?: T | undefined`' },
  },
  create(context) {
    const isWritten = (type) =>
      ['TSAnyKeyword', 'TSUnknownKeyword', 'TSNeverKeyword', 'TSUndefinedKeyword'].includes(type.type) ||
      (type.type === 'TSUnionType' && type.types.some(isWritten))
    const check = ({ optional, typeAnnotation }) => {
      const type = typeAnnotation?.typeAnnotation
      if (!optional || type === undefined || isWritten(type)) return
      const text = context.sourceCode.getText(type)
      const isGreedy = ['TSFunctionType', 'TSConstructorType', 'TSConditionalType'].includes(type.type)
      context.report({
        node: type,
        messageId: 'written',
        fix: (fixer) => fixer.replaceText(type, `${isGreedy ? `(${text})` : text} | undefined`),
      })
    }
    return { TSPropertySignature: check, PropertyDefinition: check }
  },
}

/**
 * Types of Kubernetes' JSON, which has no `undefined`. Values of these types are assigned to the generated types and to
 * those inferred from schemas, which have members `name?: T`.
 */
const jsonTypes = [
  'packages/api/src/{object-meta,status}.ts',
  'packages/api/src/resource/{crd-of,resolved-resource}.ts',
  'packages/client/src/subresource-client.ts',
  'packages/k8s/src/discovery.ts',
  'packages/runtime/src/controller/access-rule.ts',
  'packages/runtime/src/rbac/policy-rule.ts',
  'packages/schema/src/builder/{condition,well-known}.ts',
  'packages/schema/src/model/json-schema.ts',
  'packages/server/src/resource/object.ts',
]

/** Modules of Node that open connections, set timers or read a clock. */
const ioModules = ['net', 'tls', 'http', 'https', 'http2', 'dgram', 'dns', 'timers', 'timers/promises', 'perf_hooks']
const drawing = '/^(randomBytes|randomUUID|randomInt|randomFill|randomFillSync|getRandomValues)$/'
const loading = "CallExpression[callee.property.name='getBuiltinModule']"

const syntax = [
  { selector: "NewExpression[callee.name='Date'][arguments.length=0]", message: law1 },
  // Loads a module at first use, which no rule about imports sees.
  {
    selector: `${loading}[arguments.0.value=/^(node:)?(${ioModules.join('|').replace('/', '\\/')})$/]`,
    message: law1,
  },
  {
    selector: `${loading} > :not(Literal).arguments`,
    message: 'Name the module of Node, so that law 1 can be checked',
  },
  { selector: `MemberExpression[property.name=${drawing}]`, message: law1 },
  { selector: `ObjectPattern > Property[key.name=${drawing}]`, message: law1 },
  { selector: `ImportSpecifier[imported.name=${drawing}]`, message: law1 },
  // tsc emits `using` unchanged, because older targets break static members, and Node 20 does not support it.
  {
    selector: 'VariableDeclaration[kind=/using/]',
    message: 'Node 20 has no using declarations: use try and finally',
  },
  { selector: 'Decorator', message: 'Decorators are not erasable syntax' },
  { selector: 'ExportAllDeclaration', message: 'List the names that a module exports' },
]

/** Rules about promises and thrown values, which need type information. */
const asynchrony = {
  '@typescript-eslint/no-floating-promises': 'error',
  '@typescript-eslint/no-misused-promises': 'error',
  '@typescript-eslint/await-thenable': 'error',
  '@typescript-eslint/only-throw-error': 'error',
}

export default tseslint.config(
  { ignores: ['**/dist/**', '**/generated/**', '**/node_modules/**', '**/*.js', '**/*.mjs'] },
  {
    files: ['packages/*/src/**/*.ts', 'tools/**/*.ts', 'bench/**/*.ts', 'test/**/*.ts', 'examples/**/*.ts'],
    languageOptions: {
      parser: tseslint.parser,
      parserOptions: { project: './tsconfig.test.json', tsconfigRootDir: import.meta.dirname },
    },
    plugins: { '@typescript-eslint': tseslint.plugin },
    rules: {
      ...asynchrony,
      'no-restricted-imports': [
        'error',
        { paths: [{ name: 'vitest', importNames: ['it'], message: 'Tests are called test' }] },
      ],
    },
  },
  {
    // The page of the console runs in browsers, with their clock. No text of a cluster may become markup or code there.
    files: ['packages/console/page/src/**/*.{ts,tsx}'],
    languageOptions: {
      parser: tseslint.parser,
      parserOptions: {
        project: './packages/console/page/tsconfig.json',
        tsconfigRootDir: import.meta.dirname,
        ecmaFeatures: { jsx: true },
      },
    },
    plugins: { '@typescript-eslint': tseslint.plugin },
    rules: {
      ...asynchrony,
      'no-eval': 'error',
      'no-implied-eval': 'error',
      'no-new-func': 'error',
      'no-script-url': 'error',
      'no-restricted-syntax': ['error', ...markup, ...spreads],
    },
  },
  {
    files: ['packages/*/src/**/*.ts', 'packages/console/page/src/**/*.{ts,tsx}'],
    ignores: ['**/*.test.ts', '**/*.test-d.ts', '**/testdata/**', ...jsonTypes],
    plugins: { kubewright: { rules: { 'optional-member': optionalMember } } },
    rules: { 'kubewright/optional-member': 'error' },
  },
  {
    files: ['packages/*/src/**/*.ts'],
    ignores: ['**/*.test.ts', '**/*.test-d.ts', '**/testdata/**'],
    rules: {
      'no-restricted-globals': [
        'error',
        ...['setTimeout', 'setInterval', 'setImmediate', 'performance', 'fetch', 'WebSocket'].map((name) => ({
          name,
          message: law1,
        })),
      ],
      'no-restricted-properties': [
        'error',
        ...restricted('Date', 'now'),
        ...restricted('Math', 'random'),
        ...restricted('crypto', 'randomUUID', 'getRandomValues', 'randomBytes'),
        ...restricted('process', 'hrtime', 'uptime'),
        ...restricted('globalThis', 'setTimeout', 'setInterval', 'setImmediate', 'performance', 'fetch', 'crypto'),
      ],
      'no-restricted-syntax': ['error', ...syntax, ...errors],
      'no-restricted-imports': [
        'error',
        {
          paths: [...ioModules.flatMap((name) => [name, `node:${name}`]), 'undici', 'ws'].map((name) => ({
            name,
            message: law1,
          })),
        },
      ],
    },
  },
  {
    // The packages that read input of clients.
    files: [
      'packages/{api,base,cel,schema,server,storage}/src/**/*.ts',
      'packages/runtime/src/{queue,webhook}/**/*.ts',
    ],
    ignores: ['**/*.test.ts', '**/*.test-d.ts', '**/testdata/**'],
    rules: { 'no-restricted-syntax': ['error', ...syntax, ...errors, ...spreads] },
  },
  {
    // The base classes of all others.
    files: ['packages/base/src/{kubewright-error,caught-error}.ts'],
    rules: { 'no-restricted-syntax': ['error', ...syntax, ...spreads] },
  },
  {
    // The only modules that use the real clock, randomness and sockets. All other code gets them injected.
    files: [
      'packages/base/src/system-clock.ts',
      'packages/base/src/system-random.ts',
      'packages/simulator/src/world/host-guards.ts',
      'packages/simulator/src/report/regressions.ts',
      // Nonces of encrypted values, which must not be predictable.
      'packages/server/src/encryption/value-transformer.ts',
      // Incoming connections (listener), and outgoing ones (etcd client, webhooks, aggregation).
      'packages/server/src/http/listener/*.ts',
      'packages/server/src/http/http2/*.ts',
      'packages/server/src/outgoing/outgoing.ts',
      'packages/server/src/outgoing/verifying-agent.ts',
      'packages/storage/src/etcd/grpc-connection.ts',
      // The client's connections to API servers.
      'packages/client/src/transport/{http-*,node-modules}.ts',
      // The server of an operator's webhooks.
      'packages/runtime/src/webhook/serve-webhooks.ts',
      // The ports that the console forwards to pods.
      'packages/console/src/cluster/system-port-listener.ts',
      // The server of a manager's metrics and probes.
      'packages/runtime/src/serving/http/system-http-listener.ts',
      // The health checks of etcd.
      'packages/cli/src/envtest/run-etcd.ts',
    ],
    ignores: ['**/*.test.ts'],
    rules: {
      'no-restricted-globals': 'off',
      'no-restricted-properties': 'off',
      'no-restricted-syntax': ['error', ...errors, ...spreads],
      'no-restricted-imports': 'off',
    },
  },
)
