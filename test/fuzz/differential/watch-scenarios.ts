// Scenarios about watches: the events that clients with different options receive for the same writes.
import type { Random } from '@kubewright/base'
import type { RequestSpec } from '../../conformance/case-format.ts'
import { chance } from '../mutate.ts'
import type { Scenario } from './scenario.ts'

type Json = Record<string, unknown>

const targets: readonly (readonly [string, Json, readonly string[]])[] = [
  [
    '/api/v1/namespaces/{ns}/configmaps',
    { data: { a: 'b' } },
    ['metadata.name=a', 'metadata.name!=a', 'metadata.namespace={ns}', 'data=x'],
  ],
  [
    '/api/v1/namespaces/{ns}/pods',
    { spec: { containers: [{ name: 'c', image: 'i' }] } },
    ['metadata.name=a', 'spec.nodeName=n', 'status.phase=Running', 'status.phase!=Running', 'spec.x=y'],
  ],
  ['/api/v1/namespaces/{ns}/secrets', { type: 'Opaque', data: {} }, ['type=Opaque', 'type!=Opaque', 'metadata.name=b']],
  [
    '/apis/batch/v1/namespaces/{ns}/jobs',
    { spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } } } },
    ['status.successful=0', 'metadata.name=a'],
  ],
]
const accepts: readonly string[] = [
  'application/json',
  'application/json',
  'application/json;stream=watch',
  'application/json;as=Table;v=v1;g=meta.k8s.io',
  'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
  'application/json;as=Other;v=v1;g=meta.k8s.io',
]
const starts: readonly string[] = [
  '',
  '&resourceVersion=0',
  '&resourceVersion={rv}',
  '&resourceVersion=-1',
  '&resourceVersion=x',
  '&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true',
  '&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&resourceVersion=0',
  '&sendInitialEvents=true&resourceVersionMatch=NotOlderThan',
  '&sendInitialEvents=false&resourceVersionMatch=NotOlderThan&resourceVersion={rv}',
  '&sendInitialEvents=true&allowWatchBookmarks=true',
  '&resourceVersionMatch=Exact&resourceVersion={rv}',
  '&limit=1',
]

/** Several watches of one collection during writes of two of its objects. */
export function watchScenario(random: Random, id: string): Scenario {
  const namespace = `diff-${id}`
  const [place, body, fieldSelectors] = random.pick(targets)
  const collection = place.replace('{ns}', namespace)
  const labelled = (): Json => ({ labels: random.pick<Json>([{ l: '1' }, { l: '2' }, {}]) })
  const watch = (): RequestSpec => {
    const name = chance(random, 0.1) ? '/a' : ''
    const selectors = [
      chance(random, 0.4)
        ? `&labelSelector=${encodeURIComponent(random.pick(['l=1', 'l!=1', 'l in (1,2)', '!l', 'l=!']))}`
        : '',
      chance(random, 0.3)
        ? `&fieldSelector=${encodeURIComponent(random.pick(fieldSelectors).replace('{ns}', namespace))}`
        : '',
    ]
    const path = `${collection}${name}?watch=${random.pick(['1', 'true', 'true', '2'])}${random.pick(starts)}${selectors.join('')}`
    return { path, headers: { accept: random.pick(accepts) } }
  }
  const create = (name: string): RequestSpec => {
    const finalizers = chance(random, 0.15) ? { finalizers: ['x.io/f'] } : {}
    return { method: 'POST', path: collection, body: { metadata: { name, ...labelled(), ...finalizers }, ...body } }
  }
  const requests = Array.from({ length: 8 }, (): RequestSpec => {
    const name = random.pick(['a', 'b'])
    const path = `${collection}/${name}`
    switch (random.int(7)) {
      case 0:
        return { method: 'DELETE', path, query: { gracePeriodSeconds: random.pick(['0', '5']) } }
      case 1:
        return { method: 'DELETE', path: collection, query: { labelSelector: 'l=1' } }
      case 2:
      case 3: {
        const metadata = chance(random, 0.2) ? { finalizers: null } : random.pick<Json>([labelled(), { labels: null }])
        return {
          method: 'PATCH',
          path,
          headers: { 'content-type': 'application/merge-patch+json' },
          body: { metadata },
        }
      }
      case 4: {
        const headers = { 'content-type': 'application/merge-patch+json' }
        return {
          method: 'PATCH',
          path: `${path}/status`,
          headers,
          body: { status: { phase: random.pick(['Running', 'Failed']) } },
        }
      }
      default:
        return create(name)
    }
  })
  return {
    kind: 'watches',
    namespace,
    setup: [create('a'), ...(chance(random, 0.5) ? [create('b')] : [])],
    watches: Array.from({ length: 3 }, watch),
    requests,
  }
}
