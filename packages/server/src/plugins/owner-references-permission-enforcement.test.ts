import { MemoryStore } from '@kubewright/storage'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type AssembledServer, assembleServer } from '../assemble-server.ts'

const tokens = ['root', 'maker', 'finalizer', 'anything'].map((name) => ({
  token: name,
  user: { name, groups: name === 'root' ? ['system:masters'] : ['system:authenticated'] },
}))

let store: MemoryStore
let server: AssembledServer
let count = 0

/** Sends a request as a user; returns the object, or the message of the error. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into objects of every shape
async function send(who: string, line: string, body?: object, type = 'application/json'): Promise<any> {
  const [method = '', path = ''] = line.split(' ')
  const { status, body: bytes } = await server.handler({
    method,
    path,
    query: new URLSearchParams(type.includes('apply') ? 'fieldManager=test' : ''),
    headers: { authorization: `Bearer ${who}`, 'content-type': type },
    body: async () => Buffer.from(JSON.stringify(body)),
    signal: new AbortController().signal,
    peer: { address: '127.0.0.1' },
  })
  if (typeof bytes === 'function') throw new Error('The answer is a stream')
  const { feed, store } = server.parts.registry
  await feed.reached(await store.revision())
  const answer = JSON.parse(Buffer.from(bytes ?? []).toString())
  return status < 400 ? answer : answer.message
}

const maps = '/api/v1/namespaces/default/configmaps'

const owner = (kind: string, more: object = {}, apiVersion = 'v1'): object => ({
  apiVersion,
  kind,
  name: 'owner',
  uid: `of-${kind}`,
  ...more,
})

const map = (...ownerReferences: object[]): { metadata: { name: string; ownerReferences: object[] } } => ({
  metadata: { name: `map-${count++}`, ownerReferences },
})

/** Creates an object as administrator and changes its owners as another user. */
async function change(who: string, from: object[], to: object[]): Promise<unknown> {
  const { metadata } = await send('root', `POST ${maps}`, map(...from))
  const body = { metadata: { ownerReferences: to } }
  const answer = await send(who, `PATCH ${maps}/${metadata.name}`, body, 'application/merge-patch+json')
  return typeof answer === 'string' ? answer.replace(metadata.name, 'NAME') : (answer.metadata.ownerReferences ?? [])
}

async function grant(who: string, rules: object[]): Promise<void> {
  const group = 'rbac.authorization.k8s.io'
  await send('root', `POST /apis/${group}/v1/clusterroles`, { metadata: { name: who }, rules })
  await send('root', `POST /apis/${group}/v1/clusterrolebindings`, {
    metadata: { name: who },
    roleRef: { apiGroup: group, kind: 'ClusterRole', name: who },
    subjects: [{ apiGroup: group, kind: 'User', name: who }],
  })
}

const make = { apiGroups: [''], resources: ['configmaps'], verbs: ['create', 'patch', 'update'] }
const remove = { apiGroups: [''], resources: ['configmaps'], verbs: ['delete'] }

beforeAll(async () => {
  store = new MemoryStore()
  server = await assembleServer({
    store,
    access: { tokens },
    admissionPlugins: ['OwnerReferencesPermissionEnforcement'],
  })
  await grant('maker', [make])
  await grant('finalizer', [
    make,
    remove,
    { apiGroups: [''], resources: ['pods/finalizers', 'nodes/finalizers'], verbs: ['update'] },
    { apiGroups: ['apps'], resources: ['deployments/finalizers'], resourceNames: ['owner'], verbs: ['update'] },
  ])
  await grant('anything', [make, { apiGroups: ['*'], resources: ['*/finalizers'], verbs: ['update'] }])
})

afterAll(async () => {
  await server[Symbol.asyncDispose]()
  await store[Symbol.asyncDispose]()
})

const undeletable = 'configmaps "NAME" is forbidden: cannot set an ownerRef on a resource you can\'t delete: , <nil>'
const unfinalizable =
  "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: , <nil>"
const blocking = { blockOwnerDeletion: true }

describe('ownerReferencesPermissionEnforcement()', () => {
  test('allows any owner on create unless it blocks deletion of the owner', async () => {
    const given = map(owner('Pod'), owner('Node', { blockOwnerDeletion: false }))
    expect(await send('maker', `POST ${maps}`, given)).toMatchObject(given)
    const blocked = map(owner('Pod', blocking))
    expect(await send('maker', `POST ${maps}`, blocked)).toBe(
      `configmaps "${blocked.metadata.name}" is forbidden: ${unfinalizable}`,
    )
    const generated = { metadata: { generateName: 'gen-', ownerReferences: [owner('Pod', blocking)] } }
    expect(await send('maker', `POST ${maps}`, generated)).toMatch(
      /^configmaps "gen-[a-z0-9]*" is forbidden: cannot set blockOwnerDeletion/,
    )
  })

  test('treats an apply that creates the object as a create', async () => {
    const body = { apiVersion: 'v1', kind: 'ConfigMap', ...map(owner('Pod', blocking)) }
    const { name } = body.metadata
    const apply = (who: string): Promise<unknown> =>
      send(who, `PATCH ${maps}/${name}`, body, 'application/apply-patch+yaml')
    expect(await apply('maker')).toBe(`configmaps "${name}" is forbidden: ${unfinalizable}`)
    expect(await apply('finalizer')).toMatchObject({ metadata: { name } })
    expect(await apply('maker')).toMatchObject({ metadata: { name } })
  })

  test.each([
    ['a namespaced kind', 'Pod', 'v1'],
    ['a kind without namespaces', 'Node', 'v1'],
    ['a kind by its name in lower case', 'pod', 'v1'],
    ['one object by its name', 'Deployment', 'apps/v1'],
  ])('allows blocking with permission to set the finalizers of the owner: %s', async (_, kind, apiVersion) => {
    const given = map(owner(kind, blocking, apiVersion))
    expect(await send('finalizer', `POST ${maps}`, given)).toMatchObject(given)
  })

  test('checks every blocked owner', async () => {
    const given = map(owner('Pod', blocking), owner('Service', blocking))
    expect(await send('finalizer', `POST ${maps}`, given)).toContain(unfinalizable)
    const other = map({ ...owner('Deployment', blocking, 'apps/v1'), name: 'other' })
    expect(await send('finalizer', `POST ${maps}`, other)).toContain(unfinalizable)
  })

  test('rejects blocking owners of unknown kinds unless the user may finalize everything', async () => {
    const given = map(owner('Odd', blocking, 'example.com/v1'))
    expect(await send('finalizer', `POST ${maps}`, given)).toBe(
      `configmaps "${given.metadata.name}" is forbidden: cannot set blockOwnerDeletion in this case because cannot find ` +
        'RESTMapping for APIVersion example.com/v1 Kind Odd: no matches for kind "Odd" in version "example.com/v1"',
    )
    expect(await send('anything', `POST ${maps}`, given)).toMatchObject(given)
  })

  test('requires permission to delete the object for changes of its owners', async () => {
    expect(await change('maker', [owner('Pod')], [owner('Pod')])).toEqual([owner('Pod')])
    expect(await change('maker', [owner('Pod')], [])).toBe(undeletable)
    expect(await change('maker', [], [owner('Pod')])).toBe(undeletable)
    expect(await change('maker', [owner('Pod'), owner('Node')], [owner('Node'), owner('Pod')])).toBe(undeletable)
    expect(await change('maker', [owner('Pod')], [owner('Pod', { blockOwnerDeletion: false })])).toBe(undeletable)
    expect(await change('finalizer', [owner('Pod')], [])).toEqual([])
  })

  test('checks only newly blocked owners and allows unblocking with permission to delete', async () => {
    const secret = owner('Secret', blocking)
    const both = [secret, owner('Pod', blocking)]
    expect(await change('finalizer', [secret], both)).toEqual(both)
    expect(await change('finalizer', [secret], [owner('Secret')])).toEqual([owner('Secret')])
    expect(await change('finalizer', [owner('Secret')], [secret])).toContain(unfinalizable)
  })
})
