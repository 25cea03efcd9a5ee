// Scenarios about writes: RBAC, apply by several managers, and life cycles.
import type { Random } from '@kubewright/base'
import type { RequestSpec } from '../../conformance/case-format.ts'
import { chance, mutateValue } from '../mutate.ts'
import type { Scenario } from './scenario.ts'

type Json = Record<string, unknown>

const merge = { 'content-type': 'application/merge-patch+json' }
const apply = { 'content-type': 'application/apply-patch+yaml' }

/** Roles and bindings, written by users with and without the permissions that they grant, and reviews of the result. */
export function rbacScenario(random: Random, id: string): Scenario {
  const namespace = `diff-${id}`
  const root = '/apis/rbac.authorization.k8s.io/v1'
  const rule = (): Json =>
    chance(random, 0.15)
      ? (mutateValue(random, { verbs: ['get'], apiGroups: [''], resources: ['pods'] }) as Json)
      : {
          verbs: random.pick([['get'], ['get', 'list'], ['*'], ['create', 'update'], []]),
          apiGroups: random.pick([[''], ['*'], ['apps']]),
          resources: random.pick([['pods'], ['*'], ['pods/log'], ['configmaps'], ['deployments', 'secrets']]),
          ...(chance(random, 0.2) ? { resourceNames: ['x'] } : {}),
        }
  const user = (): { user: string; groups: string[] } =>
    random.pick([
      { user: `u-${id}`, groups: ['system:authenticated'] },
      { user: 'admin', groups: ['system:masters'] },
    ])
  const subjects = [
    { kind: random.pick(['User', 'User', 'Group', 'x']), apiGroup: 'rbac.authorization.k8s.io', name: `u-${id}` },
  ]
  const requests: RequestSpec[] = [
    {
      method: 'POST',
      path: `${root}/namespaces/${namespace}/roles`,
      body: { metadata: { name: 'r' }, rules: [rule(), rule()] },
    },
    {
      method: 'POST',
      path: `${root}/namespaces/${namespace}/rolebindings`,
      body: {
        metadata: { name: 'b' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'r' },
        subjects,
      },
    },
  ]
  for (let left = 6; left > 0; left--) {
    const as = user()
    switch (random.int(6)) {
      case 0:
        requests.push({
          method: 'POST',
          path: `${root}/namespaces/${namespace}/roles`,
          as,
          body: { metadata: { name: `r${left}` }, rules: [rule()] },
        })
        break
      case 1:
        requests.push({
          method: 'POST',
          path: `${root}/namespaces/${namespace}/rolebindings`,
          as,
          body: {
            metadata: { name: `b${left}` },
            roleRef: {
              apiGroup: 'rbac.authorization.k8s.io',
              kind: random.pick(['Role', 'ClusterRole', 'x']),
              name: random.pick(['r', 'view', 'none']),
            },
            subjects,
          },
        })
        break
      case 2:
        requests.push({
          method: 'PATCH',
          path: `${root}/namespaces/${namespace}/roles/r`,
          as,
          headers: merge,
          body: { rules: [rule()] },
        })
        break
      case 3:
        requests.push({
          method: 'POST',
          path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
          body: {
            spec: {
              user: `u-${id}`,
              ...(chance(random, 0.9)
                ? {
                    resourceAttributes: {
                      namespace,
                      verb: random.pick(['get', 'list', 'create', '*']),
                      group: random.pick(['', 'apps']),
                      resource: random.pick(['pods', 'configmaps', 'deployments']),
                      ...(chance(random, 0.2) ? { name: 'x' } : {}),
                      ...(chance(random, 0.2) ? { subresource: 'log' } : {}),
                    },
                  }
                : { nonResourceAttributes: { path: '/healthz', verb: 'get' } }),
            },
          },
        })
        break
      case 4:
        requests.push({
          path: random.pick([
            `/api/v1/namespaces/${namespace}/pods`,
            `/api/v1/namespaces/${namespace}/configmaps/x`,
            `/apis/apps/v1/namespaces/${namespace}/deployments`,
            '/api/v1/nodes',
          ]),
          as,
        })
        break
      default:
        requests.push({
          method: random.pick(['PATCH', 'DELETE']),
          path: `${root}/namespaces/${namespace}/${random.pick(['rolebindings/b', 'roles/r'])}`,
          as,
          headers: merge,
          body: {},
        })
    }
  }
  return { kind: 'RBAC', namespace, requests }
}

/** One Deployment that several managers apply and others update. */
export function applyScenario(random: Random, id: string): Scenario {
  const namespace = `diff-${id}`
  const path = `/apis/apps/v1/namespaces/${namespace}/deployments/o`
  const container = (): Json => ({
    name: random.pick(['a', 'b']),
    ...(chance(random, 0.8) ? { image: random.pick(['x', 'y']) } : {}),
    ...(chance(random, 0.4) ? { env: [{ name: random.pick(['E', 'F']), value: random.pick(['1', '2']) }] } : {}),
    ...(chance(random, 0.4)
      ? { ports: [{ containerPort: random.pick([80, 81]), ...(chance(random, 0.5) ? { protocol: 'TCP' } : {}) }] }
      : {}),
    ...(chance(random, 0.2) ? { args: random.pick([[], ['x'], null]) } : {}),
  })
  const part = (): Json => ({
    ...(chance(random, 0.4) ? { replicas: random.pick([1, 2, null]) } : {}),
    ...(chance(random, 0.7) ? { selector: { matchLabels: { app: 'x' } } } : {}),
    ...(chance(random, 0.8)
      ? {
          template: {
            metadata: { labels: { app: 'x', ...(chance(random, 0.3) ? { [random.pick(['p', 'q'])]: '1' } : {}) } },
            spec: {
              containers: [container(), ...(chance(random, 0.2) ? [container()] : [])],
              ...(chance(random, 0.2) ? { tolerations: random.pick([[], [{ key: 'k', operator: 'Exists' }]]) } : {}),
            },
          },
        }
      : {}),
    ...(chance(random, 0.2)
      ? {
          strategy: random.pick([{ type: 'Recreate' }, { rollingUpdate: { maxSurge: random.pick([1, '50%']) } }, null]),
        }
      : {}),
  })
  const metadata = (): Json => ({
    name: 'o',
    ...(chance(random, 0.3) ? { labels: { [random.pick(['l', 'm'])]: random.pick(['1', '2']) } } : {}),
    ...(chance(random, 0.1) ? { finalizers: ['x.io/f'] } : {}),
  })
  const requests = Array.from({ length: 8 }, (_, i): RequestSpec => {
    const query = { ...(chance(random, 0.1) ? { dryRun: 'All' } : {}) }
    if (i > 0 && chance(random, 0.3)) {
      const type = random.pick(['application/merge-patch+json', 'application/strategic-merge-patch+json'])
      return {
        method: 'PATCH',
        path: path + random.pick(['', '', '/status', '/scale']),
        query,
        headers: { 'content-type': type },
        body: {
          metadata: {
            ...metadata(),
            ...(chance(random, 0.1) ? { managedFields: random.pick<unknown>([[], [{}], null]) } : {}),
          },
          spec: part(),
        },
      }
    }
    return {
      method: 'PATCH',
      path: path + (chance(random, 0.1) ? '/status' : ''),
      query: {
        ...query,
        fieldManager: random.pick(['a', 'b', 'c']),
        ...(chance(random, 0.5) ? { force: 'true' } : {}),
      },
      headers: apply,
      body: { apiVersion: 'apps/v1', kind: 'Deployment', metadata: metadata(), spec: part() },
    }
  })
  return { kind: 'apply by several managers', namespace, requests }
}

/** Creation, deletion with options, finalizers, owners and preconditions of one object. */
export function lifecycleScenario(random: Random, id: string): Scenario {
  const namespace = `diff-${id}`
  const [collection, body] = random.pick<[string, Json]>([
    [`/api/v1/namespaces/${namespace}/configmaps`, { data: { a: 'b' } }],
    [`/api/v1/namespaces/${namespace}/pods`, { spec: { containers: [{ name: 'c', image: 'i' }] } }],
    [
      `/apis/batch/v1/namespaces/${namespace}/jobs`,
      { spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } } } },
    ],
    [
      `/api/v1/namespaces/${namespace}/persistentvolumeclaims`,
      { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
    ],
  ])
  const path = `${collection}/o`
  const finalizers = (): string[] =>
    random.pick([[], ['a.io/x'], ['a.io/x', 'b.io/y'], ['orphan'], ['foregroundDeletion'], ['bad']])
  const preconditions = (): Json =>
    random.pick<Json>([
      { uid: '{uid}' },
      { uid: 'x' },
      { resourceVersion: '{rv}' },
      { resourceVersion: '1' },
      { uid: '{uid}', resourceVersion: '1' },
    ])
  const requests = Array.from({ length: 8 }, (): RequestSpec => {
    const query = chance(random, 0.1) ? { dryRun: 'All' } : {}
    switch (random.int(7)) {
      case 0:
      case 1:
        return {
          method: 'POST',
          path: collection,
          query,
          body: {
            metadata: {
              name: 'o',
              ...(chance(random, 0.6) ? { finalizers: finalizers() } : {}),
              ...(chance(random, 0.2)
                ? {
                    ownerReferences: [
                      {
                        apiVersion: 'v1',
                        kind: 'ConfigMap',
                        name: 'q',
                        uid: '{uid}',
                        ...(chance(random, 0.3) ? { controller: true } : {}),
                      },
                    ],
                  }
                : {}),
              ...(chance(random, 0.1) ? { generateName: 'g-' } : {}),
            },
            ...body,
          },
        }
      case 2:
      case 3:
        return {
          method: 'DELETE',
          path,
          query: { ...query, ...(chance(random, 0.2) ? { gracePeriodSeconds: random.pick(['0', '5', '-1']) } : {}) },
          ...(chance(random, 0.6)
            ? {
                body: {
                  ...(chance(random, 0.5)
                    ? { propagationPolicy: random.pick(['Foreground', 'Background', 'Orphan']) }
                    : {}),
                  ...(chance(random, 0.4) ? { preconditions: preconditions() } : {}),
                  ...(chance(random, 0.1) ? { orphanDependents: chance(random, 0.5) } : {}),
                  ...(chance(random, 0.2) ? { gracePeriodSeconds: random.pick([0, 3]) } : {}),
                },
              }
            : {}),
        }
      case 4:
        return {
          method: 'PATCH',
          path,
          query,
          headers: merge,
          body: { metadata: { finalizers: random.pick<unknown>([finalizers(), null]) } },
        }
      case 5:
        return {
          method: 'PATCH',
          path,
          query,
          headers: merge,
          body: {
            metadata: { labels: { x: random.pick(['1', '2', null]) }, ...(chance(random, 0.3) ? preconditions() : {}) },
          },
        }
      default:
        return { path }
    }
  })
  return { kind: 'life cycles', namespace, requests }
}
