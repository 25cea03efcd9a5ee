// Scenarios about the frame of requests: paths, methods, query parameters, headers, representations and watches.
import type { Random } from '@kubewright/base'
import type { RequestSpec } from '../../conformance/case-format.ts'
import { chance, mutateText } from '../mutate.ts'
import type { Scenario } from './scenario.ts'

const resources: readonly string[] = [
  '/api/v1/namespaces/NS/configmaps',
  '/api/v1/namespaces/NS/pods',
  '/api/v1/namespaces/NS/services',
  '/apis/apps/v1/namespaces/NS/deployments',
  '/apis/coordination.k8s.io/v1/namespaces/NS/leases',
  '/apis/rbac.authorization.k8s.io/v1/namespaces/NS/roles',
]
const paths: readonly string[] = [
  ...resources,
  ...resources.map((path) => `${path}/o`),
  '/api',
  '/apis',
  '/api/v1',
  '/apis/apps',
  '/apis/apps/v1',
  '/apis/x.example.com/v1/things',
  '/api/v1/namespaces/NS',
  '/api/v1/namespaces/NS/status',
  '/api/v1/namespaces/NS/finalize',
  '/api/v1/namespaces/NS/pods/o/status',
  '/api/v1/namespaces/NS/pods/o/log',
  '/api/v1/namespaces/NS/pods/o/exec',
  '/api/v1/namespaces/NS/pods/o/eviction',
  '/api/v1/namespaces/NS/pods/o/binding',
  '/api/v1/namespaces/NS/pods/o/ephemeralcontainers',
  '/api/v1/namespaces/NS/pods/o/resize',
  '/api/v1/namespaces/NS/services/o/proxy',
  '/api/v1/namespaces/NS/serviceaccounts/default/token',
  '/apis/apps/v1/namespaces/NS/deployments/o/scale',
  '/apis/apps/v1/namespaces/NS/deployments/o/status',
  '/api/v1/nodes/none',
  '/api/v1/componentstatuses/none',
]
const queries: readonly string[] = [
  'limit=1',
  'limit=-1',
  'limit=x',
  'continue=x',
  'labelSelector=a%3Db',
  'labelSelector=!!',
  'labelSelector=a+in+(b,c),!d',
  'fieldSelector=metadata.name%3Do',
  'fieldSelector=metadata.name!%3Do,metadata.namespace%3DNS',
  'fieldSelector=spec.x%3Dy',
  'resourceVersion=0',
  'resourceVersion=1',
  'resourceVersion=x',
  'resourceVersion=99999999',
  'resourceVersionMatch=Exact',
  'resourceVersionMatch=NotOlderThan',
  'resourceVersionMatch=x',
  'timeoutSeconds=1',
  'timeoutSeconds=x',
  'dryRun=All',
  'dryRun=x',
  'fieldManager=a',
  'fieldValidation=Strict',
  'fieldValidation=x',
  'force=true',
  'pretty=true',
  'includeObject=None',
  'includeObject=x',
  'sendInitialEvents=true',
  'allowWatchBookmarks=x',
  'gracePeriodSeconds=0',
  'gracePeriodSeconds=x',
  'propagationPolicy=Orphan',
  'propagationPolicy=x',
  'orphanDependents=x',
  'x=y',
]
const accepts: readonly string[] = [
  '*/*',
  'application/*',
  'application/json',
  'application/yaml',
  'application/json;q=0.1, application/yaml',
  'text/html, application/json;q=0.9',
  'application/json;as=Table;v=v1;g=meta.k8s.io,application/json',
  'application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json',
  'application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=Table;v=v1beta1;g=meta.k8s.io,application/json',
  'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
  'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
  'application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io',
  'application/json;stream=watch',
  'application/cbor',
  'text/plain',
  'image/png',
  'x',
  '',
]
const contentTypes: readonly (string | null)[] = [
  'application/json',
  'application/json; charset=utf-8',
  'application/yaml',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
  'application/json-patch+json',
  'application/apply-patch+yaml',
  'text/plain',
  'application/vnd.kubernetes.protobuf',
  'x/y/z',
  '',
  null,
]
const bodies: readonly unknown[] = [
  {},
  { metadata: { name: 'o' } },
  { metadata: { name: 'p', namespace: 'other' } },
  { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'o' }, data: { a: 'b' } },
  { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'o' } },
  { kind: 'DeleteOptions', propagationPolicy: 'Background' },
  { kind: 'DeleteOptions', apiVersion: 'x/v1' },
  { spec: { replicas: 3 } },
  [{ op: 'test', path: '/metadata/name', value: 'o' }],
  [],
  'metadata:\n  name: y\n',
  '{',
  '',
  'null',
]

/** Requests with random parts of the frame, for a ConfigMap that exists and objects that do not. */
export function pathScenario(random: Random, id: string): Scenario {
  const namespace = `diff-${id}`
  const requests: RequestSpec[] = []
  for (let left = 4 + random.int(4); left > 0; left--) requests.push(frame(random, namespace))
  const setup: RequestSpec[] = [
    {
      method: 'POST',
      path: `/api/v1/namespaces/${namespace}/configmaps`,
      body: { metadata: { name: 'o', labels: { a: 'b' } }, data: { k: 'v' } },
    },
  ]
  return { kind: 'paths and headers', namespace, requests, setup }
}

function frame(random: Random, namespace: string): RequestSpec {
  const method = chance(random, 0.5) ? 'GET' : random.pick(['POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'GET'])
  let path = random.pick(paths)
  if (chance(random, 0.15))
    path = mutateText(random, path, ['/', '//', '..', '.', '%2F', '%20', 'x', ';', '~']).replace(/[^\x21-\x7e]/g, 'x')
  if (!path.startsWith('/')) path = `/${path}`
  path = path.replace(/[?#]/g, '')
  const count = chance(random, 0.5) ? 0 : 1 + random.int(2)
  const query = Array.from({ length: count }, () => random.pick(queries)).join('&')
  const hasBody = method !== 'GET' && method !== 'HEAD' && chance(random, 0.8)
  const url = (query === '' ? path : `${path}?${query}`).replaceAll('NS', namespace)
  return {
    method,
    path: url,
    headers: {
      ...(chance(random, 0.4) ? { accept: random.pick(accepts) } : {}),
      ...(hasBody ? { 'content-type': random.pick(contentTypes) } : {}),
    },
    ...(hasBody ? { body: random.pick(bodies) } : {}),
  }
}

/** Pages of lists, deletion of collections and watches, for a handful of objects. */
export function listScenario(random: Random, id: string): Scenario {
  const namespace = `diff-${id}`
  const collection = `/api/v1/namespaces/${namespace}/configmaps`
  const setup = ['a', 'b', 'c', 'd'].map((name, i): RequestSpec => {
    const labels = { n: String(i % 2), who: name }
    return { method: 'POST', path: collection, body: { metadata: { name, labels } } }
  })
  const requests: RequestSpec[] = []
  for (let left = 4 + random.int(3); left > 0; left--) {
    const limit = 1 + random.int(3)
    const selector = random.pick([
      '',
      '&labelSelector=n%3D0',
      '&labelSelector=n!%3D1,who',
      '&fieldSelector=metadata.name!%3Db',
    ])
    const headers = chance(random, 0.5) ? { accept: random.pick(accepts) } : {}
    switch (random.int(8)) {
      case 0:
        requests.push({ path: `${collection}?limit=${limit}${selector}`, headers })
        requests.push({ path: `${collection}?limit=${limit}&continue={continue}${selector}`, headers })
        break
      case 1:
        requests.push({
          path: `${collection}?resourceVersion={rv}&resourceVersionMatch=${random.pick(['Exact', 'NotOlderThan'])}${selector}`,
          headers,
        })
        break
      case 2:
        requests.push({
          method: 'DELETE',
          path: `${collection}?${random.pick(['', 'dryRun=All', 'limit=1', 'propagationPolicy=Foreground', 'gracePeriodSeconds=0'])}${selector}`,
          headers,
          ...(chance(random, 0.4)
            ? {
                body: random.pick<unknown>([
                  { propagationPolicy: 'Orphan' },
                  { preconditions: { uid: 'x' } },
                  { dryRun: ['All'] },
                  {},
                ]),
              }
            : {}),
        })
        break
      case 3:
        requests.push({ path: `${collection}?watch=1&timeoutSeconds=1&resourceVersion=0${selector}`, headers })
        break
      case 4:
        requests.push({
          path: `${collection}?watch=1&timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true${selector}`,
          headers,
        })
        break
      case 5:
        requests.push({
          path: `${collection}?watch=1&timeoutSeconds=1&${random.pick(queries)}`.replaceAll('NS', namespace),
          headers,
        })
        break
      case 6:
        requests.push({
          method: 'PATCH',
          path: `${collection}/${random.pick(['a', 'b'])}`,
          headers: { 'content-type': 'application/merge-patch+json' },
          body: { metadata: { labels: { n: random.pick(['0', '1', null]) } } },
        })
        break
      default:
        requests.push({ path: `${collection}?${selector.slice(1)}`, headers })
    }
  }
  return { kind: 'lists and watches', namespace, requests, setup }
}
