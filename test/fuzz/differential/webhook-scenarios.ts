// Scenarios about admission webhooks: what they receive, and what their answers do to the writes.
import type { Random } from '@kubewright/base'
import type { RequestSpec, WebhookAnswer, WebhookSpec } from '../../conformance/case-format.ts'
import { chance } from '../mutate.ts'
import type { Scenario } from './scenario.ts'

type Json = Record<string, unknown>

const root = '/apis/admissionregistration.k8s.io/v1'

interface Target {
  readonly path: string
  readonly rule: Json
  readonly body: Json
  readonly change: Json
  readonly subresources: readonly string[]
}

const podSpec = { containers: [{ name: 'c', image: 'i' }] }
const targets: readonly Target[] = [
  {
    path: '/api/v1/namespaces/{ns}/configmaps',
    rule: { apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] },
    body: { apiVersion: 'v1', kind: 'ConfigMap', data: { a: 'b' } },
    change: { data: { a: 'c' } },
    subresources: [],
  },
  {
    path: '/apis/apps/v1/namespaces/{ns}/deployments',
    rule: { apiGroups: ['apps'], apiVersions: ['v1'], resources: ['deployments', 'deployments/*'] },
    body: {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: { metadata: { labels: { a: 'b' } }, spec: podSpec },
      },
    },
    change: { spec: { replicas: 2 } },
    subresources: ['status', 'scale'],
  },
  {
    path: '/apis/autoscaling/v1/namespaces/{ns}/horizontalpodautoscalers',
    rule: { apiGroups: ['autoscaling'], apiVersions: ['v2'], resources: ['horizontalpodautoscalers'] },
    body: {
      apiVersion: 'autoscaling/v1',
      kind: 'HorizontalPodAutoscaler',
      spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' } },
    },
    change: { spec: { maxReplicas: 4 } },
    subresources: ['status'],
  },
  {
    path: '/api/v1/namespaces/{ns}/pods',
    rule: { apiGroups: ['*'], apiVersions: ['*'], resources: ['pods', 'pods/*'] },
    body: { apiVersion: 'v1', kind: 'Pod', spec: podSpec },
    change: { metadata: { annotations: { a: 'b' } } },
    subresources: ['status', 'eviction', 'binding'],
  },
]

const patches: readonly unknown[] = [
  [{ op: 'add', path: '/metadata/annotations', value: { hooked: '1' } }],
  [{ op: 'add', path: '/metadata/labels', value: { hooked: '1' } }],
  [{ op: 'add', path: '/metadata/labels/hooked', value: '1' }],
  [{ op: 'replace', path: '/metadata/name', value: 'renamed' }],
  [{ op: 'add', path: '/metadata/generation', value: 7 }],
  [{ op: 'add', path: '/metadata/finalizers', value: ['x.io/f'] }],
  [{ op: 'remove', path: '/metadata/managedFields' }],
  [{ op: 'add', path: '/metadata/labels', value: { l: 'not valid!' } }],
  [{ op: 'add', path: '/unknown', value: 1 }],
  [{ op: 'add', path: '/spec/replicas', value: 5 }],
  [{ op: 'add', path: '/data', value: { z: '1' } }],
  [{ op: 'replace', path: '/kind', value: 'Other' }],
  [{ op: 'test', path: '/metadata/name', value: 'x' }],
  [],
]

function answer(random: Random): WebhookAnswer {
  if (chance(random, 0.45)) return { patch: random.pick(patches) }
  return random.pick<WebhookAnswer>([
    {},
    {},
    { warnings: ['careful', 'a "quoted" word'] },
    { auditAnnotations: { k: 'v' } },
    { allowed: false },
    { allowed: false, status: { message: 'no', code: 422, reason: 'Invalid' } },
    { allowed: false, status: { code: 400 }, warnings: ['w'] },
    { patchRaw: 'not json' },
    { patch: [], patchType: 'Other' },
    { patch: [{ op: 'add', path: '/metadata/labels', value: {} }], patchType: null },
    { uid: 'x' },
    { kind: 'Other' },
    { apiVersion: 'admission.k8s.io/v2' },
    { httpStatus: 500, rawBody: 'broken' },
    { rawBody: '{}' },
    { destroy: true },
  ])
}

/** One or two mutating webhooks and a validating one for the objects of the namespace, and writes of one object. */
export function webhookScenario(random: Random, id: string): Scenario {
  const namespace = `diff-${id}`
  const target = random.pick(targets)
  const collection = target.path.replace('{ns}', namespace)
  const probe = { when: { 'request.name': 'probe' }, respond: { allowed: false, status: { code: 418 } } }
  const webhooks: Record<string, WebhookSpec> = {
    first: { respond: answer(random) },
    second: { respond: answer(random) },
    // The last webhook denies the probe, which shows that all are active.
    last: { rules: [probe], respond: chance(random, 0.7) ? {} : answer(random) },
  }
  const hook = (name: string): Json => ({
    name: `${name}.example.com`,
    clientConfig: { url: `{webhook}/${name}`, caBundle: '{caBundle}' },
    rules: [
      {
        ...target.rule,
        operations: random.pick([['*'], ['CREATE', 'UPDATE', 'DELETE'], ['CREATE']]),
        ...(chance(random, 0.2) ? { scope: random.pick(['Namespaced', '*']) } : {}),
      },
    ],
    sideEffects: random.pick(['None', 'NoneOnDryRun']),
    admissionReviewVersions: ['v1'],
    timeoutSeconds: 5,
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
    ...(chance(random, 0.3) ? { failurePolicy: 'Ignore' } : {}),
    ...(chance(random, 0.3) ? { matchPolicy: random.pick(['Exact', 'Equivalent']) } : {}),
    ...(chance(random, 0.1) ? { objectSelector: { matchLabels: { l: '1' } } } : {}),
    ...(chance(random, 0.15)
      ? {
          matchConditions: [
            { name: 'm', expression: random.pick(['object != null', 'object.metadata.name == "o"', 'object.none']) },
          ],
        }
      : {}),
  })
  const mutating = ['first', 'second'].map((name) => ({
    ...hook(name),
    ...(chance(random, 0.3) ? { reinvocationPolicy: 'IfNeeded' } : {}),
  }))
  const last = { ...hook('last'), failurePolicy: 'Fail', objectSelector: {}, matchConditions: [] }
  const named = { metadata: { name: `o-${id}` } }
  const metadata = (): Json => ({
    name: 'o',
    ...(chance(random, 0.4) ? { labels: { l: random.pick(['1', '2']) } } : {}),
    ...(chance(random, 0.1) ? { finalizers: ['y.io/f'] } : {}),
  })
  const requests = Array.from({ length: 6 }, (_, i): RequestSpec => {
    const query: Record<string, string> = chance(random, 0.2) ? { dryRun: 'All' } : {}
    const path = `${collection}/o`
    const { apiVersion, kind } = target.body
    const create = { method: 'POST', path: collection, query, body: { ...target.body, metadata: metadata() } }
    if (i === 0 && chance(random, 0.7)) return create
    const place = chance(random, 0.25) && target.subresources.length > 0 ? `/${random.pick(target.subresources)}` : ''
    if (place === '/eviction') {
      return {
        method: 'POST',
        path: path + place,
        query,
        body: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: 'o' } },
      }
    }
    if (place === '/binding') {
      const binding = {
        apiVersion: 'v1',
        kind: 'Binding',
        metadata: { name: 'o' },
        target: { kind: 'Node', name: 'n' },
      }
      return { method: 'POST', path: path + place, query, body: binding }
    }
    switch (random.int(7)) {
      case 0:
        return {
          method: 'PUT',
          path: path + place,
          query,
          body: { ...target.body, ...target.change, metadata: metadata() },
        }
      case 1:
        return {
          method: 'PATCH',
          path: path + place,
          query,
          headers: { 'content-type': 'application/merge-patch+json' },
          body: target.change,
        }
      case 2:
      case 3:
        return {
          method: 'PATCH',
          path: path + place,
          query: { ...query, fieldManager: random.pick(['a', 'b']), ...(chance(random, 0.5) ? { force: 'true' } : {}) },
          headers: { 'content-type': 'application/apply-patch+yaml' },
          body: { apiVersion, kind, ...target.body, ...target.change, metadata: { name: 'o' } },
        }
      case 4:
        return { method: 'DELETE', path, query: { ...query, gracePeriodSeconds: '0' } }
      case 5:
        return chance(random, 0.5) ? { method: 'DELETE', path: collection, query } : { path }
      default:
        return create
    }
  })
  return {
    kind: 'admission webhooks',
    namespace,
    webhooks,
    setup: [
      { method: 'POST', path: `${root}/mutatingwebhookconfigurations`, body: { ...named, webhooks: mutating } },
      { method: 'POST', path: `${root}/validatingwebhookconfigurations`, body: { ...named, webhooks: [last] } },
    ],
    ready: {
      request: {
        method: 'POST',
        path: `${collection}?dryRun=All`,
        body: { ...target.body, metadata: { name: 'probe' } },
      },
      status: 418,
    },
    requests,
    created: [`${root}/mutatingwebhookconfigurations/o-${id}`, `${root}/validatingwebhookconfigurations/o-${id}`],
  }
}
