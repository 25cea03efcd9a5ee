import type { JSONSchemaProps } from '@kubewright/schema'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { CallCounter } from '../testdata/call-counter.ts'
import { startCoreServer } from '../testdata/core-server.ts'
import { CrdServer, definition, widget } from '../testdata/crd-server.ts'
import type { PlainServer } from '../testdata/plain-server.ts'

/** Calls of functions without a turn of the event loop, about 70 ms of a current machine. */
const longestStretch = 1_200_000
/** The same for YAML, whose scanner calls a function for each character. */
const longestYamlStretch = 4_300_000

let core: PlainServer
let custom: CrdServer

beforeAll(async () => {
  core = await startCoreServer()
  custom = await CrdServer.start()
  const spec: JSONSchemaProps = {
    type: 'object',
    properties: {
      set: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
      map: {
        type: 'array',
        items: { type: 'object', required: ['name'], properties: { name: { type: 'string' }, n: { type: 'integer' } } },
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name'],
      },
      free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    },
  }
  await custom.define(definition(spec))
})
afterAll(async () => {
  await core[Symbol.asyncDispose]()
  await custom[Symbol.asyncDispose]()
})

const configMaps = '/api/v1/namespaces/default/configmaps'
const widgets = '/apis/shop.example.com/v1/namespaces/default/widgets'
const list = <T>(count: number, item: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => item(i))
const fields = (count: number, value: unknown): Record<string, unknown> =>
  Object.fromEntries(list(count, (i) => [`k${i}`, value]))

interface Body {
  readonly server: () => { send: PlainServer['send'] }
  readonly line: string
  readonly type: string
  readonly body: unknown
}

const json = 'application/json'
const yaml = 'application/yaml'
const apply = 'application/apply-patch+yaml'
const core0 = (line: string, body: unknown, type = json): Body => ({ server: () => core, line, type, body })
const custom0 = (line: string, body: unknown, type = json): Body => ({ server: () => custom, line, type, body })
const own = (spec: unknown): unknown => widget('w', spec)

/** Bodies with so many values. The server accepts five times as many. */
const bodies: Record<string, (values: number) => Body> = {
  labels: (n) => core0(`POST ${configMaps}?dryRun=All`, { metadata: { name: 'a', labels: fields(n, 'v') } }),
  data: (n) => core0(`POST ${configMaps}?dryRun=All`, { metadata: { name: 'a' }, data: fields(n, 'v') }),
  'apply of data': (n) =>
    core0(
      `PATCH ${configMaps}/p?fieldManager=m&dryRun=All`,
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'p' }, data: fields(n, 'v') },
      apply,
    ),
  'free fields': (n) => custom0(`POST ${widgets}?dryRun=All`, own({ free: fields(n, 1) })),
  'a set': (n) => custom0(`POST ${widgets}?dryRun=All`, own({ set: list(n, (i) => `${i}`) })),
  'a map list': (n) =>
    custom0(`POST ${widgets}?dryRun=All`, own({ map: list(Math.floor(n / 3), (i) => ({ name: `${i}`, n: i })) })),
  'apply of a map list': (n) =>
    custom0(
      `PATCH ${widgets}/w?fieldManager=m&dryRun=All`,
      own({ map: list(Math.floor(n / 3), (i) => ({ name: `${i}`, n: i })) }),
      apply,
    ),
  'a YAML list': (n) =>
    custom0(
      `POST ${widgets}?dryRun=All`,
      `apiVersion: shop.example.com/v1\nkind: Widget\nmetadata: {name: w}\nspec:\n  set:\n${list(n, (i) => `  - a${i}\n`).join('')}`,
      yaml,
    ),
}

test('a request with a large body gives other requests turns', { timeout: 60_000 }, async () => {
  using counter = new CallCounter()
  const kinds = Object.keys(bodies)
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 20_000, max: 21_000 }), async (values) => {
      for (const kind of kinds) {
        const { server, line, type, body } = bodies[kind]!(values)
        let status = 0
        const { longest, total } = await counter.measure(async () => {
          status = (await server().send(line, { body, headers: { 'content-type': type } })).status
        })
        expect(status, kind).toBe(201)
        // One step of the write takes at most nine tenths of its work.
        expect(longest, kind).toBeLessThan(0.9 * total)
        expect(longest, kind).toBeLessThan(type === yaml ? longestYamlStretch : longestStretch)
      }
    }),
    { numRuns: 1 },
  )
})
