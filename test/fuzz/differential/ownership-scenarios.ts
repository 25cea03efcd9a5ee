// Scenarios about what applies leave behind: several managers apply a custom resource, then each of them applies less.
import type { Random } from '@kubewright/base'
import type { RequestSpec } from '../../conformance/case-format.ts'
import { chance } from '../mutate.ts'
import type { Scenario } from './scenario.ts'

type Json = Record<string, unknown>

const group = 'own.example.com'
const text = { type: 'string' }
const item = {
  type: 'object',
  required: ['k'],
  properties: {
    k: text,
    p: { type: 'integer', default: 1 },
    v: text,
    tags: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
  },
}
const schema: Json = {
  type: 'object',
  properties: {
    map: { type: 'array', items: item, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] },
    pairs: {
      type: 'array',
      items: { ...item, required: ['k', 'p'] },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k', 'p'],
    },
    set: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
    list: { type: 'array', items: text },
    labels: { type: 'object', additionalProperties: text },
    whole: { type: 'object', properties: { a: text, b: text }, 'x-kubernetes-map-type': 'atomic' },
    deep: { type: 'object', properties: { a: text, b: { type: 'object', properties: { c: text, d: text } } } },
    free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    opt: { type: 'string', nullable: true },
    port: { 'x-kubernetes-int-or-string': true },
  },
}

/** A custom resource with every type of list and map. */
export function ownershipScenario(random: Random, id: string): Scenario {
  const namespace = `diff-${id}`
  const plural = `own${id.replaceAll('-', '')}`
  const type = { kind: `T${plural}` }
  const versions = ['v1', 'v2'].map((name) => ({
    name,
    served: true,
    storage: name === 'v1',
    schema: {
      openAPIV3Schema: {
        type: 'object',
        properties: { spec: schema, status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    },
    subresources: { status: {} },
  }))
  const crd = {
    metadata: { name: `${plural}.${group}` },
    spec: { group, scope: 'Namespaced', names: { plural, kind: type.kind }, versions },
  }
  const word = (): string => random.pick(['x', 'y', 'z'])
  const some = <T>(make: () => T): T[] => Array.from({ length: random.int(3) }, make)
  const entry = (): Json => ({
    k: random.pick(['a', 'b', 'c']),
    ...(chance(random, 0.4) ? { p: random.pick([1, 2]) } : {}),
    ...(chance(random, 0.5) ? { v: word() } : {}),
    ...(chance(random, 0.3) ? { tags: some(word) } : {}),
  })
  const makers: Readonly<Record<string, () => unknown>> = {
    map: () => some(entry),
    pairs: () => some(() => ({ p: 1, ...entry() })),
    set: () => some(word),
    list: () => some(word),
    labels: () => ({ [random.pick(['l', 'm'])]: word() }),
    whole: () => ({ [random.pick(['a', 'b'])]: word() }),
    deep: () => ({
      ...(chance(random, 0.5) ? { a: word() } : {}),
      ...(chance(random, 0.6) ? { b: { [random.pick(['c', 'd'])]: word() } } : {}),
    }),
    free: () => ({ [random.pick(['q', 'r'])]: random.pick<unknown>([1, 'x', [1, 2], { s: [{ t: 1 }] }, {}]) }),
    opt: () => random.pick(['x', null]),
    port: () => random.pick<unknown>([80, 'http']),
  }
  const spec = (share: number): Json =>
    Object.fromEntries(
      Object.entries(makers)
        .filter(() => chance(random, share))
        .map(([name, make]) => [name, chance(random, 0.06) ? random.pick<unknown>([null, {}, []]) : make()]),
    )
  const collection = (version: string): string => `/apis/${group}/${version}/namespaces/${namespace}/${plural}`
  const apply = (manager: string, share: number): RequestSpec => {
    const version = chance(random, 0.85) ? 'v1' : 'v2'
    return {
      method: 'PATCH',
      path: `${collection(version)}/o${chance(random, 0.1) ? '/status' : ''}`,
      query: { fieldManager: manager, ...(chance(random, 0.6) ? { force: 'true' } : {}) },
      headers: { 'content-type': 'application/apply-patch+yaml' },
      body: {
        apiVersion: `${group}/${version}`,
        ...type,
        metadata: { name: 'o', ...(chance(random, 0.2) ? { labels: { [word()]: word() } } : {}) },
        ...(chance(random, 0.9) ? { spec: spec(share) } : {}),
        ...(chance(random, 0.15) ? { status: { s: word() } } : {}),
      },
    }
  }
  const write = (): RequestSpec => {
    const version = chance(random, 0.8) ? 'v1' : 'v2'
    const path = `${collection(version)}/o`
    if (chance(random, 0.5))
      return {
        method: 'PATCH',
        path,
        headers: { 'content-type': 'application/merge-patch+json' },
        body: { spec: spec(0.3) },
      }
    const metadata = { name: 'o', ...(chance(random, 0.2) ? { managedFields: random.pick<unknown>([[], [{}]]) } : {}) }
    return {
      method: 'PUT',
      path: path + random.pick(['', '/status']),
      body: { apiVersion: `${group}/${version}`, ...type, metadata, spec: spec(0.4), status: { s: word() } },
    }
  }
  const root = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  return {
    kind: 'ownership',
    namespace,
    setup: [{ method: 'POST', path: root, body: crd }],
    ready: { request: { path: collection('v2') }, status: 200 },
    requests: [
      ...Array.from({ length: 6 }, () => (chance(random, 0.25) ? write() : apply(random.pick(['a', 'b', 'c']), 0.5))),
      ...['a', 'b', 'c'].map((manager) => apply(manager, 0.15)),
      { path: `${collection('v1')}/o` },
    ],
    created: [`${root}/${plural}.${group}`],
  }
}
