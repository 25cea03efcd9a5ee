import { defineResource } from '@kubewright/api'
import { dynamicKind } from '@kubewright/client'
import { s } from '@kubewright/schema'
import { describe, expect, test } from 'vitest'
import { defineKeyController } from '../controller/key-controller.ts'
import { kindSource } from '../controller/sources/kind-source.ts'
import { timerSource } from '../controller/sources/timer-source.ts'
import { defineController } from '../define/define-controller.ts'
import { defineOperator } from '../define/define-operator.ts'
import { defineWebhook } from '../define/define-webhook.ts'
import { watch } from '../define/watched-kinds.ts'
import { accessOf, rulesOf } from './operator-access.ts'

const Home = defineResource({
  group: 'ajd.example.com',
  version: 'v1',
  kind: 'Home',
  spec: s.object({ image: s.string() }),
  status: s.object({ ready: s.int() }),
})
const Plain = defineResource({ group: 'ajd.example.com', version: 'v1', kind: 'Plain', spec: s.object({}) })
const Deployment = dynamicKind({ group: 'apps', version: 'v1', kind: 'Deployment', plural: 'deployments' })
const Service = dynamicKind({ group: '', version: 'v1', kind: 'Service', plural: 'services' })
const Node = dynamicKind({ group: '', version: 'v1', kind: 'Node', plural: 'nodes', scope: 'Cluster' })

const events = { apiGroups: ['events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] }
const read = ['get', 'list', 'watch']

describe('rulesOf()', () => {
  test('derives the minimal rules from a controller', () => {
    const operator = defineOperator({
      name: 'home',
      controllers: [
        defineController(Home, {
          owns: [Deployment, Service],
          watches: [watch(Node, () => [])],
          rbac: [{ apiGroups: [''], resources: ['pods/exec'], verbs: ['create'] }],
          reconcile: () => undefined,
          cleanup: () => undefined,
        }),
      ],
    })
    const makes = ['create', 'get', 'list', 'patch', 'watch']
    expect(rulesOf(operator)).toEqual([
      { apiGroups: [''], resources: ['nodes'], verbs: read },
      { apiGroups: [''], resources: ['pods/exec'], verbs: ['create'] },
      { apiGroups: [''], resources: ['services'], verbs: makes },
      { apiGroups: ['ajd.example.com'], resources: ['homes'], verbs: ['get', 'list', 'patch', 'watch'] },
      { apiGroups: ['ajd.example.com'], resources: ['homes/finalizers'], verbs: ['update'] },
      { apiGroups: ['ajd.example.com'], resources: ['homes/status'], verbs: ['patch'] },
      { apiGroups: ['apps'], resources: ['deployments'], verbs: makes },
      events,
    ])
  })

  test('contains nothing that a plain controller does not need', () => {
    const operator = defineOperator({
      name: 'plain',
      controllers: [defineController(Plain, { reconcile: () => undefined })],
    })
    // `patch` removes the finalizer of an earlier version with cleanup.
    const verbs = ['get', 'list', 'patch', 'watch']
    expect(rulesOf(operator)).toEqual([{ apiGroups: ['ajd.example.com'], resources: ['plains'], verbs }, events])
  })

  test('allows deleting children only with prune', () => {
    const verbsOf = (prune: boolean): readonly string[] | undefined => {
      const controller = defineController(Plain, { owns: [Service], prune, reconcile: () => undefined })
      const rules = rulesOf(defineOperator({ name: 'a', controllers: [controller] }))
      return rules.find(({ resources }) => resources?.includes('services'))?.verbs
    }
    expect(verbsOf(true)).toContain('delete')
    expect(verbsOf(false)).not.toContain('delete')
  })
})

describe('rulesOf() of key controllers', () => {
  test('derives rules from sources and `rbac`', () => {
    const controller = defineKeyController({
      name: 'nodes',
      kind: Home,
      sources: [kindSource(Node), timerSource('1m', { keys: ['a'] })],
      rbac: [{ apiGroups: [''], resources: ['nodes/status'], verbs: ['patch'] }],
      reconcile: () => undefined,
    })
    expect(rulesOf(defineOperator({ name: 'a', controllers: [controller] }))).toEqual([
      { apiGroups: [''], resources: ['nodes'], verbs: read },
      { apiGroups: [''], resources: ['nodes/status'], verbs: ['patch'] },
      events,
    ])
  })
})

describe('accessOf()', () => {
  test('contains Leases in their namespace', () => {
    const options = { leaderElection: { namespace: 'far' }, sharding: { namespace: 'far' } }
    const { own, elsewhere } = accessOf(defineOperator({ name: 'a', controllers: [], ...options }))
    const verbs = ['create', 'delete', 'get', 'list', 'update']
    expect(own).toEqual([])
    expect([...elsewhere]).toEqual([['far', [{ apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs }]]])
  })

  test('contains the permission to watch the Lease if candidates watch it', () => {
    const { own } = accessOf(defineOperator({ name: 'home', leaderElection: { watch: true } }))
    const verbs = ['create', 'get', 'update', 'watch']
    expect(own).toContainEqual({ apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs })
  })

  test('contains Events beside the Lease when the operator does not watch all namespaces', () => {
    const options = { controllers: [], leaderElection: { namespace: 'far' }, namespaces: ['near'] }
    const { watched, elsewhere } = accessOf(defineOperator({ name: 'a', ...options }))
    expect(watched).toEqual([events])
    expect(elsewhere.get('far')).toContainEqual({ ...events, verbs: ['create'] })
  })

  test('contains the `rbac` of webhooks', () => {
    const rule = { apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }
    const webhooks = [defineWebhook(Home, { default: () => undefined, rbac: [rule] })]
    expect(accessOf(defineOperator({ name: 'a', controllers: [], webhooks })).cluster).toContainEqual(rule)
  })

  test("restricts Leases and certificates to the operator's namespace, and namespaced kinds to the watched namespaces", () => {
    const operator = defineOperator({
      name: 'home',
      namespaces: ['a', 'b'],
      leaderElection: true,
      controllers: [defineController(Home, { watches: [watch(Node, () => [])], reconcile: () => undefined })],
      webhooks: [defineWebhook(Home, { default: () => undefined })],
    })
    const { cluster, watched, own } = accessOf(operator)
    expect(watched.flatMap(({ resources }) => resources)).toEqual(['homes', 'homes/status', 'events'])
    expect(cluster.flatMap(({ resources }) => resources)).toEqual([
      'nodes',
      'mutatingwebhookconfigurations',
      'tokenreviews',
      'subjectaccessreviews',
    ])
    expect(cluster[1]).toMatchObject({
      resourceNames: ['home-mutating-webhook-configuration'],
      verbs: ['get', 'patch', 'watch'],
    })
    expect(own).toEqual([
      { apiGroups: [''], resources: ['secrets'], verbs: ['create'] },
      { apiGroups: [''], resources: ['secrets'], resourceNames: ['home-webhook-cert'], verbs: ['get', 'update'] },
      { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create', 'get', 'update'] },
      { ...events, verbs: ['create'] },
    ])
  })
})
