import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startClusterRoleAggregation } from '../auth/rbac/aggregate-cluster-roles.ts'
import { AccessFixture } from '../testdata/access-fixture.ts'
import { ensureBootstrapPolicy } from './bootstrap-policy.ts'

let server: AccessFixture
beforeEach(async () => {
  server = await AccessFixture.start()
})
afterEach(() => server[Symbol.asyncDispose]())

const rbac = '/apis/rbac.authorization.k8s.io/v1'

describe('ensureBootstrapPolicy()', () => {
  test('creates the roles and bindings of a fresh cluster', async () => {
    const count = async (resource: string) => (await server.send(`GET ${rbac}/${resource}`)).body.items.length
    expect(await count('clusterroles')).toBe(68)
    expect(await count('clusterrolebindings')).toBe(49)
    expect(await count('roles')).toBe(7)
    expect(await count('rolebindings')).toBe(7)
    const { body } = await server.send(`GET ${rbac}/clusterroles/system:discovery`)
    expect(body).toMatchObject({
      metadata: {
        labels: { 'kubernetes.io/bootstrapping': 'rbac-defaults' },
        annotations: { 'rbac.authorization.kubernetes.io/autoupdate': 'true' },
        managedFields: [{ manager: 'kube-apiserver', operation: 'Update' }],
      },
      rules: [{ verbs: ['get'], nonResourceURLs: expect.arrayContaining(['/api', '/apis/*', '/openapi/*']) }],
    })
  })

  test('changes nothing when nothing is missing', async () => {
    const { store } = server.server.parts.registry
    const before = await store.revision()
    await ensureBootstrapPolicy(server.server.parts)
    expect(await store.revision()).toBe(before)
  })

  test('restores missing rules and subjects and keeps additional ones', async () => {
    const path = `${rbac}/clusterrolebindings/system:discovery`
    const { body } = await server.send(`GET ${path}`)
    body.subjects = [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'jane' }]
    await server.send(`PUT ${path}`, { body })
    const role = (await server.send(`GET ${rbac}/clusterroles/system:basic-user`)).body
    role.rules = role.rules.slice(1)
    role.metadata.labels = { mine: 'yes' }
    await server.send(`PUT ${rbac}/clusterroles/system:basic-user`, { body: role })
    await server.send(`DELETE ${rbac}/clusterroles/cluster-admin`)
    await ensureBootstrapPolicy(server.server.parts)
    const names = (await server.send(`GET ${path}`)).body.subjects.map(({ name }: { name: string }) => name)
    expect(names).toEqual(['jane', 'system:authenticated'])
    const restored = (await server.send(`GET ${rbac}/clusterroles/system:basic-user`)).body
    expect(restored.rules.length).toBeGreaterThan(role.rules.length)
    expect(restored.metadata.labels).toEqual({ mine: 'yes', 'kubernetes.io/bootstrapping': 'rbac-defaults' })
    expect((await server.send(`GET ${rbac}/clusterroles/cluster-admin`)).status).toBe(200)
  })

  test('replaces a binding that names another role', async () => {
    const path = `${rbac}/clusterrolebindings/system:discovery`
    await server.send(`DELETE ${path}`)
    const body = { metadata: { name: 'system:discovery' }, roleRef: { kind: 'ClusterRole', name: 'view' } }
    await server.send(`POST ${rbac}/clusterrolebindings`, { body })
    await ensureBootstrapPolicy(server.server.parts)
    expect((await server.send(`GET ${path}`)).body.roleRef.name).toBe('system:discovery')
  })

  test('skips objects whose autoupdate annotation is false', async () => {
    const path = `${rbac}/clusterroles/system:discovery`
    const { body } = await server.send(`GET ${path}`)
    body.metadata.annotations = { 'rbac.authorization.kubernetes.io/autoupdate': 'false' }
    body.rules = null
    await server.send(`PUT ${path}`, { body })
    await ensureBootstrapPolicy(server.server.parts)
    expect((await server.send(`GET ${path}`)).body.rules).toBeNull()
  })
})

describe('startClusterRoleAggregation()', () => {
  /** Waits until the aggregated role has this many rules. */
  async function rulesOf(name: string, wanted: (rules: unknown[] | null) => boolean): Promise<unknown[] | null> {
    for (;;) {
      const changed = server.server.parts.registry.feed.changed()
      const { rules } = (await server.send(`GET ${rbac}/clusterroles/${name}`)).body
      if (wanted(rules)) return rules
      await changed
    }
  }

  test('fills the default user-facing roles', async () => {
    await using _running = await startClusterRoleAggregation(server.server.parts)
    const view = await rulesOf('view', (rules) => rules !== null)
    const edit = await rulesOf('edit', (rules) => (rules?.length ?? 0) > view!.length)
    await rulesOf('admin', (rules) => (rules?.length ?? 0) > edit!.length)
    const { body } = await server.send(`GET ${rbac}/clusterroles/view`)
    expect(body.metadata.managedFields).toContainEqual(
      expect.objectContaining({
        manager: 'clusterrole-aggregation-controller',
        operation: 'Apply',
        fieldsV1: { 'f:rules': {} },
      }),
    )
  })

  test('follows labels and rules of the selected roles', async () => {
    await using _running = await startClusterRoleAggregation(server.server.parts)
    const rule = { apiGroups: ['example.com'], resources: ['things'], verbs: ['get'] }
    const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { agg: 'x' } }] }
    await server.send(`POST ${rbac}/clusterroles`, { body: { metadata: { name: 'whole' }, aggregationRule } })
    for (const name of ['b', 'a']) {
      const rules = [{ ...rule, verbs: [name] }, rule]
      await server.send(`POST ${rbac}/clusterroles`, { body: { metadata: { name, labels: { agg: 'x' } }, rules } })
    }
    const rules = await rulesOf('whole', (found) => found?.length === 3)
    // Ordered by name and without duplicates.
    expect(rules).toEqual([{ ...rule, verbs: ['a'] }, rule, { ...rule, verbs: ['b'] }])
    await server.send(`DELETE ${rbac}/clusterroles/a`)
    await server.send(`DELETE ${rbac}/clusterroles/b`)
    expect(await rulesOf('whole', (found) => found === null)).toBeNull()
  })
})
