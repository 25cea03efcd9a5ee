// Scenarios about custom resources with several versions, converted by a webhook or by changing the version only.
import type { Random } from '@kubewright/base'
import type { RequestSpec, WebhookAnswer, WebhookSpec } from '../../conformance/case-format.ts'
import { chance } from '../mutate.ts'
import type { Scenario } from './scenario.ts'

type Json = Record<string, unknown>

const group = 'conv.example.com'
const text = { type: 'string' }
const list: Json = {
  type: 'array',
  items: { type: 'object', required: ['k'], properties: { k: text, v: text } },
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['k'],
}
/** The fields of the spec by version: each has one that the others lack, and `host` has another name in v2. */
const fields: Readonly<Record<string, Json>> = {
  v1: { host: text, n: { type: 'integer' }, list, one: text },
  v2: { address: text, n: { type: 'integer' }, list, two: { type: 'string', default: 'd' } },
  v3: { host: text, n: { type: 'integer', default: 3 }, list, three: text },
}
const patchTypes: readonly string[] = ['application/merge-patch+json', 'application/json-patch+json']

/** Answers that a conversion webhook gives for the objects that name them in `spec.one`. */
const oddAnswers: Readonly<Record<string, WebhookAnswer>> = {
  failure: { result: { status: 'Failure' } },
  error: { httpStatus: 500, rawBody: 'broken' },
  missing: { dropOne: true },
  renamed: { after: [{ set: ['metadata.name', 'other'] }] },
  labelled: { after: [{ set: ['metadata.labels', { l: 'hook' }] }] },
  'odd-label': { after: [{ set: ['metadata.labels', { l: 'not valid!' }] }] },
  bare: { after: [{ delete: 'spec' }] },
  uid: { uid: 'x' },
}

function definition(random: Random, id: string, versions: readonly string[]): Json {
  const plural = `conv${id.replaceAll('-', '')}`
  const storage = random.pick(versions)
  const hasStatus = chance(random, 0.7)
  const conversion = {
    strategy: 'Webhook',
    webhook: {
      conversionReviewVersions: ['v1'],
      clientConfig: { url: '{webhook}/conversion', caBundle: '{caBundle}' },
    },
  }
  return {
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural, kind: `T${plural}` },
      ...(chance(random, 0.7) ? { conversion } : {}),
      versions: versions.map((name) => ({
        name,
        served: true,
        storage: name === storage,
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: { type: 'object', properties: fields[name] },
              status: { type: 'object', properties: { s: text, replicas: { type: 'integer' } } },
            },
          },
        },
        subresources: {
          ...(hasStatus ? { status: {} } : {}),
          ...(chance(random, 0.5)
            ? { scale: { specReplicasPath: '.spec.n', statusReplicasPath: '.status.replicas' } }
            : {}),
        },
        ...(chance(random, 0.3)
          ? { additionalPrinterColumns: [{ name: 'N', type: 'integer', jsonPath: '.spec.n' }] }
          : {}),
      })),
    },
  }
}

/** The webhook renames the field that v2 names differently, and fails for the objects that ask for it. */
function conversionWebhook(): WebhookSpec {
  const toV2 = [{ move: ['spec.host', 'spec.address'] as const }]
  const fromV2 = [{ move: ['spec.address', 'spec.host'] as const }]
  return {
    type: 'conversion',
    rules: Object.entries(oddAnswers).map(([one, respond]) => ({
      when: { 'request.objects[0].spec.one': one },
      respond,
    })),
    convert: { 'v1->v2': toV2, 'v3->v2': toV2, 'v2->v1': fromV2, 'v2->v3': fromV2 },
  }
}

/** One custom resource that is written and read in all its versions. */
export function conversionScenario(random: Random, id: string): Scenario {
  const namespace = `diff-${id}`
  const versions = chance(random, 0.5) ? ['v1', 'v2'] : ['v1', 'v2', 'v3']
  const crd = definition(random, id, versions)
  const { plural, kind } = (crd['spec'] as { names: { plural: string; kind: string } }).names
  const collectionOf = (version: string): string => `/apis/${group}/${version}/namespaces/${namespace}/${plural}`
  const item = (): Json => ({
    k: random.pick(['a', 'b', 'c']),
    ...(chance(random, 0.7) ? { v: random.pick(['1', '2']) } : {}),
  })
  const spec = (version: string): Json => ({
    ...(chance(random, 0.5) ? { [version === 'v2' ? 'address' : 'host']: random.pick(['h', 'i']) } : {}),
    ...(chance(random, 0.4) ? { n: random.pick([1, 2]) } : {}),
    ...(chance(random, 0.4) ? { list: [item()] } : {}),
    ...(chance(random, 0.2) ? { two: 't' } : {}),
    ...(chance(random, 0.2) ? { three: 't' } : {}),
    ...(chance(random, 0.15)
      ? { one: random.pick(chance(random, 0.5) ? Object.keys(oddAnswers) : ['plain', 'other']) }
      : {}),
  })
  const content = (version: string): Json => ({
    ...(chance(random, 0.85) ? { spec: spec(version) } : {}),
    ...(chance(random, 0.3) ? { status: { s: random.pick(['x', 'y']), replicas: 1 } } : {}),
  })
  const metadata = (): Json => ({
    name: 'o',
    ...(chance(random, 0.2) ? { labels: { l: random.pick(['1', '2']) } } : {}),
    ...(chance(random, 0.15) ? { finalizers: ['x.io/f'] } : {}),
  })
  const requests = Array.from({ length: 9 }, (_, i): RequestSpec => {
    const version = random.pick(versions)
    const type = { apiVersion: `${group}/${version}`, kind }
    const collection = collectionOf(version)
    const path = `${collection}/o${chance(random, 0.25) ? random.pick(['/status', '/status', '/scale']) : ''}`
    const query: Record<string, string> = chance(random, 0.1) ? { dryRun: 'All' } : {}
    if (i === 0)
      return { method: 'POST', path: collection, body: { ...type, metadata: metadata(), ...content(version) } }
    switch (random.int(9)) {
      case 0:
        return { path }
      case 1:
        return {
          path: `${collection}${random.pick(['', '?resourceVersion=0', '?limit=1', '?labelSelector=l=1'])}`,
          headers: { accept: random.pick(['application/json', 'application/json;as=Table;v=v1;g=meta.k8s.io']) },
        }
      case 2: {
        const header = random.pick(patchTypes)
        const body = header.includes('merge')
          ? { ...(chance(random, 0.3) ? { metadata: metadata() } : {}), ...content(version) }
          : [
              {
                op: random.pick(['add', 'remove', 'replace']),
                path: random.pick(['/spec/n', '/spec/list', '/status']),
                value: 1,
              },
            ]
        return { method: 'PATCH', path, query, headers: { 'content-type': header }, body }
      }
      case 3:
      case 4:
        return {
          method: 'PUT',
          path,
          query,
          body: {
            ...type,
            metadata: { ...metadata(), ...(chance(random, 0.5) ? { resourceVersion: '{rv}' } : {}) },
            ...content(version),
          },
        }
      case 5:
        return chance(random, 0.6)
          ? { method: 'DELETE', path: `${collection}/o`, query }
          : { method: 'DELETE', path: collection, query: { ...query, labelSelector: 'l=1' } }
      case 6:
        return { method: 'POST', path: collection, query, body: { ...type, metadata: metadata(), ...content(version) } }
      default:
        return {
          method: 'PATCH',
          path,
          query: { ...query, fieldManager: random.pick(['a', 'b']), ...(chance(random, 0.4) ? { force: 'true' } : {}) },
          headers: { 'content-type': 'application/apply-patch+yaml' },
          body: { ...type, metadata: metadata(), ...content(version) },
        }
    }
  })
  const root = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
  const created = `${root}/${plural}.${group}`
  const watched = random.pick(versions)
  return {
    kind: 'conversion',
    namespace,
    webhooks: { conversion: conversionWebhook() },
    setup: [{ method: 'POST', path: root, body: crd }],
    ready: { request: { path: collectionOf(versions.at(-1)!) }, status: 200 },
    ...(chance(random, 0.3) ? { watches: [{ path: `${collectionOf(watched)}?watch=1` }] } : {}),
    requests: [...requests, ...versions.map((version) => ({ path: `${collectionOf(version)}/o` }))],
    created: [created],
  }
}
