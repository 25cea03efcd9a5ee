// Decoders of documents: JSON, YAML, manifests, kubeconfigs and CEL.
import {
  ApiSyntaxError,
  decodeJson,
  decodeYaml,
  encodeJson,
  encodeYaml,
  parseJson,
  parseManifests,
  parseYaml,
} from '@kubewright/api'
import { VirtualClock } from '@kubewright/base'
import {
  CelCompileError,
  CelEnvironment,
  CelError,
  CelPlanError,
  CostMeter,
  DYN,
  declareSchema,
  kubernetesLibraries,
} from '@kubewright/cel'
import { ConfigError, parseKubeconfig, resolveContext } from '@kubewright/client'
import { FakeHost } from '../../../packages/client/src/testdata/fake-host.ts'
import { wellFormed } from '../mutate.ts'
import { type DecoderTarget, decoded, must, textsFrom } from './decoder-target.ts'

const jsonTexts: readonly string[] = [
  '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","labels":{"x":"y"}},"data":{"k":"v"}}',
  '{"spec":{"containers":[{"name":"a","image":"b","ports":[{"containerPort":80}]}],"replicas":3,"paused":true,"x":null}}',
  '[1,-2,3.5,1e3,9007199254740993,12345678901234567890,"\\u00e9\\ud83d\\ude00\\n",[],{},[[[]]],{"a":{"b":{"c":{}}}}]',
  '{"a":1,"a":2,"__proto__":{"x":1},"constructor":3,"":4}',
  '"text"',
  '0',
  '  {"a" : [ ] }\n',
]

const yamlTexts: readonly string[] = [
  'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  labels: {x: y, "z": w}\ndata:\n  k: |\n    text\n    more\n  l: >-\n    folded\n',
  'a: &x {b: 1, c: [1, 2]}\nd: *x\ne:\n  <<: *x\n  f: 2\n',
  "- 1\n- \"two\"\n- 'it''s'\n- 0x1F\n- 0o17\n- 1_000\n- .inf\n- ~\n- yes\n- 2024-01-01\n- !!str 5\n- !!binary aGVsbG8=\n",
  '# comment\n---\na: b\n...\n---\nc:\n- d\n-   e\n- - f\n  - g\n',
  'multi\n line: plain\n? complex\n: value\n"esc\\n\\u00e9\\x41": 1\n',
  '{"json": [1, {"a": null}]}',
]

const kubeconfigs: readonly string[] = [
  'apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters:\n- name: k\n  cluster: {server: "https://h:6443", certificate-authority-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg==}\nusers:\n- name: u\n  user: {token: t}\ncontexts:\n- name: c\n  context: {cluster: k, user: u, namespace: n}\n',
  'apiVersion: v1\nkind: Config\ncurrent-context: c\nclusters:\n- name: k\n  cluster: {server: "http://h", proxy-url: "http://p", insecure-skip-tls-verify: true, tls-server-name: x}\nusers:\n- name: u\n  user:\n    exec: {apiVersion: client.authentication.k8s.io/v1, command: x, args: [a], env: [{name: A, value: b}], interactiveMode: Never}\n    as: me\n    as-groups: [g]\n    as-user-extra: {a: [b]}\ncontexts:\n- name: c\n  context: {cluster: k, user: u}\n',
  'clusters: null\ncontexts: []\nusers:\n- name: u\n  user: {username: a, password: b, client-certificate: x, client-key: y}\n',
]

const celTexts: readonly string[] = [
  'self.size >= 1 && self.size <= 10',
  'self.names.all(n, n.matches("^[a-z]+$")) || size(self.names) == 0',
  'self.items.map(i, i.name).exists_one(n, n == "x")',
  'has(self.opt) ? self.opt.orValue(1) : {"a": 1, "b": [1, 2u, 3.0, b"x", null]}["a"]',
  'self.text.split(",").filter(t, t.startsWith("a")).join("-").upperAscii() + string(1) + "\\u00e9"',
  'quantity("1Gi").add(quantity("1")).isGreaterThan(quantity(self.text))',
  'timestamp("2024-01-01T00:00:00Z") + duration("1h") < timestamp(self.text)',
  'url("https://a/b?c=d").getHost() == ip("10.0.0.1").string() || cidr("10.0.0.0/8").containsIP("10.1.1.1")',
  '[1,2,3].sum() + [3,1].max() + self.nums.indexOf(2) + -1 % 3 * int("7")',
  'cel.bind(x, self.size, x + x) == 4 && "%s-%d".format([self.text, 5]) != r"\\d"',
  'sets.contains([1,2],[1]) && self.names.isSorted() && dyn(self).size == 1u',
  'optional.of(1).optMap(v, v + 1).hasValue() && self.?opt.hasValue() && [?self.?opt].size() >= 0',
  'semver("1.2.3").compareTo(semver("1.2.4")) < 0 && "abc".find("b+") == "b" && format.named("dns1123Label").hasValue()',
]

const celWords: readonly string[] = [
  ...[
    'self',
    '.',
    '?.',
    '[',
    ']',
    '(',
    ')',
    '{',
    '}',
    ',',
    ':',
    '?',
    '+',
    '-',
    '*',
    '/',
    '%',
    '!',
    '&&',
    '||',
    '==',
    '!=',
    '<',
    '<=',
    ' in ',
  ],
  ...[
    '.all(x, ',
    '.map(x, ',
    '.filter(x, ',
    '.exists(x, ',
    'has(',
    'size(',
    '.matches(',
    '"(a+)+$"',
    '"a"',
    "'b'",
    'r"',
    'b"',
    '"""',
    '\\',
    '1u',
    '1.5e3',
  ],
  ...[
    '9223372036854775807',
    '-9223372036854775808',
    '0x',
    'null',
    'true',
    'type(',
    'dyn(',
    '.format(',
    '[1,2,3]',
    '{"a":1}',
    '//',
    '\n',
    'é',
    '☃',
  ],
]

const environment = CelEnvironment.create({
  libraries: kubernetesLibraries,
  variables: {
    self: declareSchema({
      type: 'object',
      properties: {
        size: { type: 'integer' },
        text: { type: 'string', maxLength: 100 },
        names: { type: 'array', maxItems: 10, items: { type: 'string', maxLength: 10 } },
        nums: { type: 'array', items: { type: 'integer' } },
        items: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' } } } },
        opt: { type: 'integer' },
      },
    })!,
    any: DYN,
  },
})
const self = { size: 2, text: 'a,b', names: ['a', 'b'], nums: [1, 2, 3], items: [{ name: 'x' }, { name: 'y' }] }

/** Decoders whose input is a document. */
export const documentDecoders: readonly DecoderTarget[] = [
  {
    name: 'json',
    generate: textsFrom(jsonTexts),
    check(input) {
      const text = String(input)
      const parsed = decoded(() => parseJson(text), ApiSyntaxError)
      const fromBytes = decoded(() => parseJson(Buffer.from(text)), ApiSyntaxError)
      must(
        (parsed === undefined) === (fromBytes === undefined) || wellFormed(text) !== text,
        'text and bytes are read alike',
      )
      must(
        (parsed === undefined) === (decoded(() => decodeJson(text, { strict: true }), ApiSyntaxError) === undefined),
        'strict reading accepts the same texts',
      )
      if (!parsed) return
      must(isJson(text), 'accepted texts are JSON')
      // A lone surrogate in the text, which UTF-8 cannot hold, is replaced when it is encoded.
      if (wellFormed(text) !== text) return
      const encoded = encodeJson(parsed.value)
      must(encodeJson(parseJson(encoded)) === encoded, 'an encoded value has the same value', encoded)
    },
  },
  {
    name: 'yaml',
    generate: textsFrom(yamlTexts),
    check(input) {
      const text = String(input)
      const parsed = decoded(() => decodeYaml(text, { strict: true }), ApiSyntaxError)
      // A lone surrogate in the text, which UTF-8 cannot hold, has no YAML form.
      if (!parsed || wellFormed(text) !== text) return
      const encoded = encodeYaml(parsed.value.value)
      must(sorted(parseYaml(encoded)) === sorted(parsed.value.value), 'an encoded value has the same value', encoded)
    },
  },
  {
    name: 'manifests',
    generate: textsFrom([...yamlTexts, ...jsonTexts]),
    check: (input) => void decoded(() => parseManifests(String(input)), ApiSyntaxError),
  },
  {
    name: 'kubeconfigs',
    generate: textsFrom(kubeconfigs),
    check(input) {
      const parsed = decoded(() => parseKubeconfig(String(input), 'config'), ConfigError)
      const machine = { host: new FakeHost(), clock: new VirtualClock() }
      if (parsed) decoded(() => resolveContext(parsed.value, {}, machine), ConfigError)
    },
  },
  {
    name: 'cel',
    generate: textsFrom(celTexts, celWords),
    check(input) {
      const compiled = decoded(() => environment.compile(String(input)), CelCompileError, CelPlanError)
      if (!compiled) return
      const { min, max } = compiled.value.estimateCost()
      must(min <= max, 'the estimate is a range', { min: Number(min), max: Number(max) })
      const meter = new CostMeter(100_000)
      const result = decoded(() => compiled.value.evaluate({ self, any: self }, meter), CelError)
      // One call may exceed the limit before it is noticed.
      if (result) must(meter.cost <= meter.limit, 'the cost is limited', meter.cost)
    },
  },
]

/** JSON with sorted fields: the YAML encoder sorts them, too. */
function sorted(value: unknown): string {
  return encodeJson(value, { sortKeys: true })
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
