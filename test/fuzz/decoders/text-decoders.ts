// Decoders of values that are short texts: numbers, times, selectors, paths, tokens, headers and queries.
import {
  ApiError,
  ApiSyntaxError,
  JsonPath,
  parseFieldSelector,
  parseSelector,
  parseSimplePath,
  relaxedJsonPath,
} from '@kubewright/api'
import {
  formatDuration,
  formatMicroTime,
  formatRFC3339Nano,
  GoURL,
  IPAddress,
  IPPrefix,
  matchesFormat,
  parseCron,
  parseDuration,
  parseMicroTime,
  parseQuantity,
  parseRFC3339,
} from '@kubewright/base'
import { negotiate, negotiateError, requireStream } from '../../../packages/server/src/request/negotiate.ts'
import { parseQuery } from '../../../packages/server/src/request/parse-query.ts'
import { requestInfoOf } from '../../../packages/server/src/request/request-info.ts'
import { writeOptions } from '../../../packages/server/src/request/write-options.ts'
import { builtinOrigin } from '../../../packages/server/src/resource/origin.ts'
import type { Resource } from '../../../packages/server/src/resource/resource.ts'
import { decodeContinue, encodeContinue } from '../../../packages/server/src/verbs/read/continue-token.ts'
import { readListQuery } from '../../../packages/server/src/verbs/read/list-options.ts'
import { type DecoderTarget, decoded, must, textsFrom } from './decoder-target.ts'

/** The parts of a resource that list queries read. */
const anyResource = {
  origin: builtinOrigin,
  kind: { scope: 'Namespaced' },
  selectors: { fields: {} },
} as unknown as Resource

const document = {
  kind: 'List',
  items: [
    { metadata: { name: 'a', labels: { 'a.b/c': 'd' } }, status: { capacity: { cpu: '4' }, ready: true } },
    { metadata: { name: 'b' }, numbers: [1, 2.5, -3], none: null },
  ],
}

const formats: readonly string[] = [
  ...[
    'bsonobjectid',
    'byte',
    'cidr',
    'creditcard',
    'date',
    'date-time',
    'datetime',
    'duration',
    'email',
    'hexcolor',
    'hostname',
    'ipv4',
    'ipv6',
  ],
  ...[
    'isbn',
    'isbn10',
    'isbn13',
    'k8s-long-name',
    'k8s-short-name',
    'mac',
    'password',
    'rgbcolor',
    'ssn',
    'uri',
    'uuid',
    'uuid3',
    'uuid4',
    'uuid5',
  ],
]

/** Decoders whose input is one short text. */
export const textDecoders: readonly DecoderTarget[] = [
  {
    name: 'quantities',
    generate: textsFrom([
      '0',
      '1',
      '100m',
      '1.5Gi',
      '-2Ki',
      '1e3',
      '12E',
      '1E-3',
      '.5',
      '1n',
      '9223372036854775807',
      '1e18Ki',
    ]),
    check(input) {
      const parsed = decoded(() => parseQuantity(String(input)), SyntaxError)
      if (!parsed) return
      const text = parsed.value.toString()
      must(parseQuantity(text).equal(parsed.value), 'a formatted quantity has the same value', text)
      must(parseQuantity(text).toString() === text, 'a formatted quantity is canonical', text)
    },
  },
  {
    name: 'durations',
    generate: textsFrom([
      '1h2m3.5s',
      '-1.5µs',
      '0',
      '300ms',
      '9223372036854775807ns',
      '2562047h47m16.854775807s',
      '.5s',
      '+1h',
    ]),
    check(input) {
      const parsed = decoded(() => parseDuration(String(input)), RangeError)
      if (parsed)
        must(parseDuration(formatDuration(parsed.value)) === parsed.value, 'a formatted duration has the same value')
    },
  },
  {
    name: 'times',
    generate: textsFrom([
      '2024-02-29T12:34:56Z',
      '2024-02-29T12:34:56.123456789+05:30',
      '0000-01-01T00:00:00Z',
      '9999-12-31T23:59:59.999999Z',
    ]),
    check(input) {
      const text = String(input)
      const time = decoded(() => parseRFC3339(text), SyntaxError, RangeError)
      if (time) {
        const formatted = formatRFC3339Nano(time.value)
        must(formatRFC3339Nano(parseRFC3339(formatted)) === formatted, 'a formatted time is canonical', formatted)
      }
      const micro = decoded(() => parseMicroTime(text), SyntaxError, RangeError)
      if (micro)
        must(
          formatMicroTime(parseMicroTime(formatMicroTime(micro.value))) === formatMicroTime(micro.value),
          'a micro time is canonical',
        )
    },
  },
  {
    name: 'cron',
    generate: textsFrom([
      '*/5 * * * *',
      '0 0 29 2 *',
      '@every 1h30m',
      '@daily',
      'TZ=Europe/Berlin 30 2 * * 1-5',
      '1,2,3-9/2 ? 1 JAN-dec sun',
      '59 23 31 12 6',
    ]),
    check(input) {
      const parsed = decoded(() => parseCron(String(input)), SyntaxError)
      if (!parsed) return
      const now = 1_700_000_000_000
      const first = parsed.value.next(now)
      must(first === undefined || first > now, 'the next time is later', first)
    },
  },
  {
    name: 'label-selectors',
    generate: textsFrom([
      'a=b',
      'a in (b, c),d notin (e)',
      '!x,y',
      'example.com/role==web',
      'n>5,m<3',
      'a!=b',
      'a in (),b=',
      'x in (a,,b)',
    ]),
    check(input) {
      const parsed = decoded(() => parseSelector(String(input)), ApiSyntaxError)
      if (!parsed) return
      const text = parsed.value.toString()
      must(parseSelector(text).toString() === text, 'a formatted selector is canonical', text)
      parsed.value.matches({ a: 'b', 'example.com/role': 'web', n: '6' })
    },
  },
  {
    name: 'field-selectors',
    generate: textsFrom(['metadata.name=a', 'a!=b,c==d', 'spec.x=a\\,b\\=c\\\\', 'metadata.name=,b=c', '']),
    check(input) {
      const parsed = decoded(() => parseFieldSelector(String(input)), ApiSyntaxError)
      if (!parsed) return
      const text = parsed.value.toString()
      // As in Go, terms are sorted before they are parsed: formatting changes == to =, and with it the order, once.
      const again = parseFieldSelector(text).toString()
      must(parseFieldSelector(again).toString() === again, 'a formatted selector is canonical', text)
    },
  },
  {
    name: 'json-paths',
    generate: textsFrom([
      ...[
        '{.items[*].metadata.name}',
        '{range .items[*]}{.metadata.name}{"\\n"}{end}',
        '{..name}',
        '{.items[?(@.status.ready==true)].kind}',
      ],
      ...[
        '{.items[0:2:1].numbers[-1:]}',
        "{.items[0].metadata.labels['a\\.b/c']}",
        'kind is {.kind} {@}',
        "{['kind','items']}",
        '{.items[?(@.numbers[0]<2)]}',
      ],
    ]),
    check(input) {
      const text = String(input)
      for (const allowMissingKeys of [true, false]) {
        const path = decoded(() => new JsonPath(text, { allowMissingKeys }), ApiSyntaxError)
        if (!path) continue
        decoded(() => path.value.find(document), ApiSyntaxError)
        decoded(() => path.value.render(document), ApiSyntaxError)
      }
      decoded(() => relaxedJsonPath(text), ApiSyntaxError)
      decoded(() => parseSimplePath(text), ApiSyntaxError)
    },
  },
  {
    name: 'continue-tokens',
    generate(random, maxSize) {
      const inner = textsFrom([
        '{"v":"meta.k8s.io/v1","rv":12,"start":"a\\u0000"}',
        '{"v":"meta.k8s.io/v1","rv":-1,"start":"ns/name\\u0000"}',
        '{"v":"meta.k8s.io/v1","rv":1e3,"start":"../x"}',
      ])(random, maxSize)
      const token = random.pick([
        encodeContinue('/registry/pods/a/b', '/registry/pods/', 7),
        Buffer.from(inner).toString('base64url'),
      ])
      return random.next() < 0.7 ? token : textsFrom([token])(random, maxSize)
    },
    check(input) {
      const prefix = '/registry/pods/low/'
      const parsed = decoded(() => decodeContinue(String(input), prefix), ApiError)
      if (!parsed) return
      const { after, revision } = parsed.value
      must(after.startsWith(prefix), 'the key is below the prefix', after)
      must(!/(^|\/)\.\.?(\/|$)/.test(after.slice(prefix.length)), 'the key has no dots', after)
      must(Number.isSafeInteger(revision), 'the revision is an integer', revision)
    },
  },
  {
    name: 'queries',
    generate: textsFrom([
      'limit=5&continue=abc&resourceVersion=12&resourceVersionMatch=NotOlderThan',
      'watch=1&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&timeoutSeconds=9',
      'dryRun=All&fieldManager=me&fieldValidation=Strict&force=true',
      'labelSelector=a%3Db%2Cc&fieldSelector=metadata.name%3Dx;y',
    ]),
    check(input) {
      const query = parseQuery(String(input))
      for (const watch of [true, false]) decoded(() => readListQuery(anyResource, query, { watch }, () => {}), ApiError)
      decoded(() => writeOptions(query, 'PatchOptions'), ApiError)
    },
  },
  {
    name: 'request-paths',
    generate: textsFrom(
      [
        ...[
          '/api/v1/namespaces/a/pods/b/status',
          '/apis/apps/v1/deployments',
          '/api/v1/watch/namespaces/a/secrets/b',
          '/healthz/etcd',
        ],
        ...[
          '/api/v1/namespaces/a/finalize',
          '/api/v1/proxy/namespaces/a/services/b:80/c/d',
          '/apis/a.b/v1/x/y/z',
          '//api//v1/pods',
        ],
      ],
      [
        '/',
        '//',
        '%2F',
        '%2f',
        '%00',
        '%',
        '%ff',
        '..',
        '.',
        'namespaces',
        'watch',
        'proxy',
        'status',
        '__proto__',
        'constructor',
      ],
    ),
    check(input) {
      for (const method of ['GET', 'POST', 'DELETE', 'constructor', '']) {
        const parsed = decoded(() => requestInfoOf(method, String(input), new URLSearchParams('watch=1')), URIError)
        if (parsed)
          must(
            !parsed.value.namespace.includes('/') && !parsed.value.name.includes('/'),
            'names contain no slash',
            parsed.value,
          )
      }
    },
  },
  {
    name: 'content-types',
    generate: textsFrom(
      [
        ...[
          'application/json',
          'application/json;as=Table;v=v1;g=meta.k8s.io,application/json',
          '*/*;q=0.5, application/yaml;q=0.9',
        ],
        ...[
          'application/vnd.kubernetes.protobuf;stream=watch',
          'application/json; charset="utf-8"; pretty=1',
          'text/*, application/*',
        ],
      ],
      [
        ';',
        ',',
        '=',
        '"',
        '/',
        '*',
        '*/*',
        ';q=',
        ';q=NaN',
        ';q=1e999',
        ';as=',
        ';g=',
        ';v=',
        ' ',
        '\t',
        '\\',
        'application/json',
        '__proto__',
      ],
    ),
    check(input) {
      const request = { headers: { accept: String(input) }, query: new URLSearchParams('includeObject=x') }
      const offers = { conversions: 'all', streams: true } as const
      decoded(() => negotiate(request, offers), ApiError)
      decoded(() => requireStream(negotiate(request, offers)), ApiError)
      negotiateError(request)
    },
  },
  {
    name: 'addresses',
    generate: textsFrom([
      '10.0.0.1',
      '::1',
      'fe80::1%eth0',
      '::ffff:10.0.0.1',
      '10.0.0.0/8',
      '2001:db8::/32',
      '1:2:3:4:5:6:7:8',
    ]),
    check(input) {
      const text = String(input)
      const address = decoded(() => IPAddress.parse(text), SyntaxError)?.value
      if (address)
        must(
          IPAddress.parse(address.toString()).toString() === address.toString(),
          'a formatted address is canonical',
          text,
        )
      const prefix = decoded(() => IPPrefix.parse(text), SyntaxError)?.value
      if (prefix)
        must(
          IPPrefix.parse(prefix.toString()).toString() === prefix.toString(),
          'a formatted prefix is canonical',
          text,
        )
    },
  },
  {
    name: 'formats',
    generate: textsFrom([
      '3 days',
      '1h',
      '2024-01-01',
      'a@b.example',
      '10.0.0.1',
      '978-3-16-148410-0',
      '4111111111111111',
      '#aabbcc',
      'rgb(1,2,3)',
      'YWJj',
    ]),
    check(input) {
      for (const format of formats) matchesFormat(format, String(input))
    },
  },
  {
    name: 'urls',
    generate: textsFrom([
      'https://user:pa%20ss@host:8443/a/b?c=d#e',
      'http://[::1]:80/',
      '/a/b',
      'mailto:x@y',
      'https://%41/',
      '?a',
      '//h/p',
    ]),
    check(input) {
      const parsed = decoded(() => GoURL.parse(String(input)), SyntaxError)
      if (!parsed) return
      const text = parsed.value.toString()
      const again = decoded(() => GoURL.parse(text), SyntaxError)
      if (again) must(again.value.toString() === text, 'a formatted URL is canonical', text)
    },
  },
]
