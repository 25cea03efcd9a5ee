// `kubewright migrate` on the embedded server, or on the cluster of the kubeconfig in KUBEWRIGHT_TEST_CLUSTER.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type CrdManifest, crdOf, defineResource } from '@kubewright/api'
import { type ApiClient, connect, type DynamicObject, dynamicKind } from '@kubewright/client'
import { startControlPlane } from '@kubewright/controlplane'
import { CustomResourceDefinition, ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding } from '@kubewright/k8s'
import { s } from '@kubewright/schema'
import { describe, expect, test } from 'vitest'
import { runCli } from '../import/run-cli.ts'
import { TemporaryFolder } from '../manifests/temporary-folder.ts'

const spec = s.object({ color: s.string() })
const group = 'migrate.example.com'

/** The definition of Home with v1beta1 and v1, one of which is the storage version. */
function homes(stored: 'v1beta1' | 'v1') {
  return defineResource({
    group,
    kind: 'Home',
    versions: { v1beta1: { storage: stored === 'v1beta1', spec }, v1: { storage: stored === 'v1', spec } } as never,
  })
}

const Home = dynamicKind({ group, version: 'v1', kind: 'Home', plural: 'homes' })
const crdName = `homes.${group}`

/** A cluster with Homes that are stored in v1beta1, and a CRD whose storage version is v1. */
async function clusterWithHomes(count: number) {
  const folder = new TemporaryFolder()
  const given = process.env['KUBEWRIGHT_TEST_CLUSTER']
  const plane = given === undefined ? await startControlPlane({ controllers: 'none', nodes: 0 }) : undefined
  const text = plane === undefined ? readFileSync(given!, 'utf8') : (await plane.listen()).kubeconfig
  folder.write([['kubeconfig', text]])
  const kubeconfig = join(folder.path, 'kubeconfig')
  const client = await connect({ kubeconfig })
  await install(client, crdOf(homes('v1beta1')))
  const names = Array.from({ length: count }, (_, index) => `home-${index}`)
  for (let at = 0; at < count; at += 20) {
    await Promise.all(
      names.slice(at, at + 20).map((name) => client.create(Home({ metadata: { name }, spec: { color: 'red' } }))),
    )
  }
  await install(client, crdOf(homes('v1')))
  return {
    client,
    migrate: (...args: string[]) => runCli(['migrate', '--kubeconfig', kubeconfig, ...args]),
    storedVersions: async () => (await client.get(CustomResourceDefinition, crdName)).status?.storedVersions,
    async [Symbol.asyncDispose]() {
      await client.delete(CustomResourceDefinition, crdName)
      while ((await client.find(CustomResourceDefinition, crdName)) !== undefined)
        await new Promise((resolve) => setTimeout(resolve, 20))
      await client[Symbol.asyncDispose]()
      await plane?.[Symbol.asyncDispose]()
      folder[Symbol.dispose]()
    },
  }
}

async function install(client: ApiClient, crd: CrdManifest): Promise<void> {
  await client.apply(crd as never, { force: true })
  // Until the server uses the new storage version, as an apply without an effect shows.
  for (;;) {
    const { status, metadata } = await client.get(CustomResourceDefinition, crd.metadata.name)
    const stored = crd.spec.versions.find(({ storage }) => storage)!.name
    const isServed = status?.conditions?.some(({ type, status: is }) => type === 'Established' && is === 'True')
    if (isServed && status?.storedVersions?.includes(stored)) {
      expect(metadata.name).toBe(crd.metadata.name)
      const probe = Home({ metadata: { name: 'probe' }, spec: { color: 'red' } })
      const isReady = await client.create(probe, { dryRun: true }).then(
        () => true,
        () => false,
      )
      if (isReady) return
    }
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

describe('kubewright migrate', { timeout: 300_000 }, () => {
  test('rewrites 1,000 objects, so that their old version can be removed', async () => {
    await using world = await clusterWithHomes(1000)
    const { client, migrate } = world
    expect(await world.storedVersions()).toEqual(['v1beta1', 'v1'])
    const before = await client.list(Home)

    expect(await migrate('--crd', crdName, '--dry-run')).toMatchObject({
      code: 0,
      out: `${crdName}: 1000 objects may be stored in v1beta1 and would be rewritten in v1 (dry run)`,
    })
    expect(await world.storedVersions()).toEqual(['v1beta1', 'v1'])

    const started = performance.now()
    const result = await migrate('--crd', crdName, '--method', 'client')
    if (process.env['KUBEWRIGHT_TEST_CLUSTER']) console.log(`migrated in ${Math.round(performance.now() - started)} ms`)
    expect(result).toMatchObject({
      code: 0,
      out: `${crdName}: rewrote 1000 objects in v1; removed v1beta1 from status.storedVersions`,
    })
    expect(await world.storedVersions()).toEqual(['v1'])
    const after = await client.list(Home)
    expect(after.map(contentOf)).toEqual(before.map(contentOf))
    const versions = new Set(before.map(({ metadata }) => metadata.resourceVersion))
    expect(after.filter(({ metadata }) => versions.has(metadata.resourceVersion))).toEqual([])

    expect(await migrate('--crd', crdName)).toMatchObject({
      code: 0,
      out: `${crdName}: all objects are stored in v1`,
    })
    // The server refuses this as long as objects may be stored in v1beta1.
    const only = crdOf(defineResource({ group, kind: 'Home', version: 'v1', spec }))
    await client.apply(only as never, { force: true })
    expect(await client.list(Home)).toHaveLength(1000)
  })

  test('rewrites no object a second time', async () => {
    await using world = await clusterWithHomes(3)
    await world.client.patch(Home, 'home-1', { metadata: { labels: { touched: 'yes' } } } as never)
    const { out } = await world.migrate('--crd', crdName, '--output', 'json')
    const migration = {
      crd: crdName,
      storageVersion: 'v1',
      oldVersions: ['v1beta1'],
      method: 'client',
      objects: 3,
      rewritten: 2,
      failures: [],
    }
    expect(JSON.parse(out)).toEqual({ dryRun: false, migrations: [migration] })
  })

  test('names the objects that cannot be rewritten, and keeps the old version', async () => {
    await using world = await clusterWithHomes(3)
    const { client } = world
    const rules = [{ apiGroups: [group], apiVersions: ['*'], operations: ['UPDATE'], resources: ['homes'] }]
    await client.create(
      ValidatingAdmissionPolicy({
        metadata: { name: 'no-changes' },
        spec: {
          matchConstraints: { resourceRules: rules },
          validations: [{ expression: "object.metadata.name != 'home-1'", message: 'must not change' }],
        },
      } as never),
    )
    await client.create(
      ValidatingAdmissionPolicyBinding({
        metadata: { name: 'no-changes' },
        spec: { policyName: 'no-changes', validationActions: ['Deny'] },
      } as never),
    )
    const isDenied = async (): Promise<boolean> =>
      client.patch(Home, 'home-1', { metadata: { labels: { a: 'b' } } } as never, { dryRun: true }).then(
        () => false,
        () => true,
      )
    while (!(await isDenied())) await new Promise((resolve) => setTimeout(resolve, 50))
    const { code, out, notes } = await world.migrate('--all')
    expect(code).toBe(1)
    expect(notes).toContain(`${crdName}: default/home-1 cannot be rewritten: `)
    expect(notes).toContain('must not change')
    expect(out).toContain(
      `${crdName}: 1 of 3 objects cannot be rewritten in v1: fix them and run the command again; v1beta1 stays in status.storedVersions`,
    )
    expect(await world.storedVersions()).toEqual(['v1beta1', 'v1'])
    await client.delete(ValidatingAdmissionPolicyBinding, 'no-changes')
    await client.delete(ValidatingAdmissionPolicy, 'no-changes')
  })

  test('refuses a CRD that the cluster does not have', async () => {
    await using world = await clusterWithHomes(0)
    expect(await world.migrate('--crd', 'roofs.example.com')).toMatchObject({
      code: 1,
      notes: expect.stringContaining('the cluster has no CRD roofs.example.com: install it') as string,
    })
    expect(await world.migrate('--crd', crdName, '--all')).toMatchObject({ code: 2 })
  })
})

// The embedded server has no such controller: a CRD and a loop in the test take its place.
describe.skipIf(process.env['KUBEWRIGHT_TEST_CLUSTER'])('kubewright migrate with a StorageVersionMigration', () => {
  const Migration = defineResource({
    group: 'storagemigration.k8s.io',
    version: 'v1beta1',
    kind: 'StorageVersionMigration',
    scope: 'Cluster',
    spec: s.object({ resource: s.object({ group: s.string(), resource: s.string() }) }),
    status: s.object({ conditions: s.conditions('Running', 'Succeeded', 'Failed') }),
    metadata: { annotations: { 'api-approved.kubernetes.io': 'https://github.com/kubernetes/enhancements' } },
  })

  test.each(['Succeeded', 'Failed'] as const)('uses it, and handles the condition %s', async (type) => {
    await using world = await clusterWithHomes(2)
    const { client } = world
    const crd = crdOf(Migration)
    await client.apply(crd as never, { force: true })
    while (!(await client.find(CustomResourceDefinition, crd.metadata.name))?.status?.conditions?.length)
      await new Promise((resolve) => setTimeout(resolve, 20))
    const watch = await client.watch(Migration, { resourceVersion: '0' })
    const controller = (async (): Promise<object | undefined> => {
      for await (const event of watch) {
        if (event.type !== 'ADDED') continue
        const condition = { type, status: 'True', reason: 'Test', message: 'the reason', lastTransitionTime: now }
        const status = { conditions: [condition] }
        await client.subresource(Migration, 'status').patch(event.object.metadata.name, { status })
        return event.object.spec
      }
      return undefined
    })()
    const { code, out, notes } = await world.migrate('--crd', crdName)
    expect(await controller).toEqual({ resource: { group, resource: 'homes' } })
    expect(code, notes).toBe(0)
    expect(notes.split('\n').slice(1).join()).toBe(
      type === 'Succeeded'
        ? ''
        : `${crdName}: the StorageVersionMigration failed: the reason; sending one request per object instead`,
    )
    // The command rewrites one object itself, which makes the controller start.
    const count = type === 'Succeeded' ? '2 objects in v1' : '1 object in v1, 1 was stored in it already'
    expect(out).toBe(`${crdName}: rewrote ${count}; removed v1beta1 from status.storedVersions`)
    expect(await world.storedVersions()).toEqual(['v1'])
    expect(await client.list(Migration)).toEqual([])
  })
})

const now = '2026-01-02T03:04:05Z'

const contentOf = ({ metadata, ...rest }: DynamicObject): object => {
  const { resourceVersion: _, managedFields: __, ...meta } = metadata
  return { ...rest, metadata: meta }
}
