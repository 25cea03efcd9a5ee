import { allNamespaces, type Draft } from 'kubewright'
import { Namespace, Secret } from 'kubewright/k8s'
import { isFalse, isTrue, startTestEnv, type TestEnv } from 'kubewright/testing'
import { describe, expect, test } from 'vitest'
import { operator } from './operator.ts'
import { SecSynch } from './sec-synch.ts'

const base64 = (text: string): string => Buffer.from(text).toString('base64')
const secretA = (password = 'AaAaAa', namespace = 'default') =>
  Secret({
    metadata: { name: 'secret-a', namespace, labels: { team: 'a' } },
    type: 'kubernetes.io/basic-auth',
    data: { username: base64('a'), password: base64(password) },
  })
const synchA = (destinationNamespaces = ['a1', 'a2'], spec: Partial<Draft<typeof SecSynch>['spec']> = {}) =>
  SecSynch({
    metadata: { name: 'secsynch-a' },
    spec: { sourceNamespace: 'default', secretName: 'secret-a', destinationNamespaces, ...spec },
  })

async function start(...namespaces: string[]): Promise<TestEnv> {
  const env = await startTestEnv(operator, { time: 'virtual', nodes: 0 })
  for (const name of namespaces) await env.client.create(Namespace({ metadata: { name } }))
  return env
}

/** The passwords of the existing copies, by namespace. */
async function copies(env: TestEnv, name = 'secret-a'): Promise<Record<string, string>> {
  const secrets = await env.client.list(Secret, { namespace: allNamespaces, fields: { 'metadata.name': name } })
  const found = secrets.filter(({ metadata }) => metadata.namespace !== 'default')
  const password = ({ data }: Secret): string => Buffer.from(data?.['password'] ?? '', 'base64').toString()
  return Object.fromEntries(found.map((secret) => [secret.metadata.namespace, password(secret)]))
}

const key = (namespace: string, name = 'secret-a') => ({ name, namespace })
const states = ({ status }: SecSynch) => status?.destinations.map(({ namespace, state }) => `${namespace} ${state}`)

/** An environment that has settled with copies in a1 and a2. */
async function startCopied(): Promise<TestEnv> {
  const env = await start('a1', 'a2')
  await env.client.create(secretA())
  await env.client.create(synchA())
  await env.until(SecSynch, 'secsynch-a', isTrue('Synced'))
  await env.settled()
  return env
}

describe('SecSynch', () => {
  test('copies a Secret, also to a namespace that is created later', async () => {
    await using env = await start('a1')
    await env.client.create(secretA())
    await env.client.create(synchA())
    const waiting = await env.until(SecSynch, 'secsynch-a', isFalse('Synced'))
    expect(states(waiting)).toEqual(['a1 Copied', 'a2 NoNamespace'])
    expect(await copies(env)).toEqual({ a1: 'AaAaAa' })

    await env.client.create(Namespace({ metadata: { name: 'a2' } }))
    // The tutorial polls every three minutes; a watch reacts immediately.
    const synch = await env.until(SecSynch, 'secsynch-a', isTrue('Synced'), { timeout: '1s' })
    expect(states(synch)).toEqual(['a1 Copied', 'a2 Copied'])
    expect(await copies(env)).toEqual({ a1: 'AaAaAa', a2: 'AaAaAa' })
    expect(Date.parse(synch.status?.lastSyncTime ?? '')).not.toBeNaN()
  })

  test('problem 1: deletes its copies, but not the source, when it is deleted', async () => {
    await using env = await startCopied()
    await env.client.delete(SecSynch, 'secsynch-a')
    await env.gone(SecSynch, 'secsynch-a')
    expect(await copies(env)).toEqual({})
    await env.client.get(Secret, 'secret-a')
  })

  test('problem 2: propagates changes of the source', async () => {
    await using env = await startCopied()
    await env.client.patch(Secret, 'secret-a', { data: { password: base64('BbBbBb'), username: null } })
    await env.settled()
    expect(await copies(env)).toEqual({ a1: 'BbBbBb', a2: 'BbBbBb' })
    expect(Object.keys((await env.client.get(Secret, key('a1'))).data ?? {})).toEqual(['password'])
  })

  test('problem 3: is reconciled once when it is created, and once for each change of the source', async () => {
    await using env = await startCopied()
    expect(env.reconciles()).toHaveLength(1)
    await env.client.patch(Secret, 'secret-a', { data: { password: base64('BbBbBb') } })
    await env.settled()
    expect(env.reconciles()).toHaveLength(2)
    // Changes that affect no copy do not trigger a reconcile.
    await env.client.patch(Secret, 'secret-a', { metadata: { labels: { team: 'b' } } })
    await env.client.create(Secret({ metadata: { name: 'unrelated' } }))
    await env.settled()
    expect(env.reconciles()).toHaveLength(2)
    expect(env.reconciles().map(({ result }) => result)).toEqual(['success', 'success'])
  })

  test('reverts foreign changes of a copy', async () => {
    await using env = await startCopied()
    await env.client.patch(Secret, key('a1'), { data: { password: base64('guess'), more: base64('x') } })
    await env.client.delete(Secret, key('a2'))
    await env.settled()
    expect(await copies(env)).toEqual({ a1: 'AaAaAa', a2: 'AaAaAa' })
    expect(Object.keys((await env.client.get(Secret, key('a1'))).data ?? {})).toEqual(['password', 'username'])
  })

  test('follows a change of secretName', async () => {
    await using env = await startCopied()
    await env.client.create(Secret({ metadata: { name: 'secret-b' }, data: { password: base64('b') } }))
    await env.client.patch(SecSynch, 'secsynch-a', { spec: { secretName: 'secret-b' } })
    await env.settled()
    expect([await copies(env), await copies(env, 'secret-b')]).toEqual([{}, { a1: 'b', a2: 'b' }])
  })

  test('can copy a copy', async () => {
    await using env = await start('a1', 'a2')
    await env.client.create(synchA(['a1']))
    const next = synchA(['a2'], { sourceNamespace: 'a1' })
    await env.client.create({ ...next, metadata: { name: 'next' } })
    await env.client.create(secretA())
    await env.until(SecSynch, 'next', isTrue('Synced'))
    expect(await copies(env)).toEqual({ a1: 'AaAaAa', a2: 'AaAaAa' })
  })
})

// The remaining mistakes of the tutorial's last version.
describe('the mistakes of the tutorial', () => {
  test('a: a deletion, which changes no spec, is not filtered out', async () => {
    await using env = await startCopied()
    const deleted = await env.client.delete(SecSynch, 'secsynch-a')
    expect(deleted?.metadata).toMatchObject({ finalizers: ['tutorial.study.dev/finalizer'] })
    expect(deleted?.metadata.deletionTimestamp).toBeDefined()
    await env.gone(SecSynch, 'secsynch-a', { timeout: '1s' })
  })

  test('b: a deleted copy or namespace does not block the deletion of the SecSynch', async () => {
    await using env = await startCopied()
    await env.client.delete(Namespace, 'a1')
    await env.gone(Namespace, 'a1')
    await env.client.delete(Secret, key('a2'))
    await env.client.delete(SecSynch, 'secsynch-a')
    await env.gone(SecSynch, 'secsynch-a', { timeout: '1s' })
    expect(await copies(env)).toEqual({})
  })

  test('c: the copies are deleted with the source', async () => {
    await using env = await startCopied()
    await env.client.delete(Secret, 'secret-a')
    const synch = await env.until(SecSynch, 'secsynch-a', isFalse('Synced'))
    expect(synch.status?.conditions[0]).toMatchObject({
      reason: 'NoSource',
      message: 'Secret default/secret-a does not exist',
    })
    expect(await copies(env)).toEqual({})
  })

  test('d: the copy is deleted from a namespace that is no longer listed', async () => {
    await using env = await startCopied()
    await env.client.patch(SecSynch, 'secsynch-a', { spec: { destinationNamespaces: ['a2'] } })
    await env.settled()
    expect(await copies(env)).toEqual({ a2: 'AaAaAa' })
  })

  test('e: the source is not modified', async () => {
    await using env = await start('a1')
    const source = await env.client.create(secretA())
    await env.client.create(synchA(['a1']))
    await env.until(SecSynch, 'secsynch-a', isTrue('Synced'))
    expect(await env.client.get(Secret, 'secret-a')).toEqual(source)
  })

  test('f: the type is copied, also when it changes', async () => {
    await using env = await startCopied()
    expect((await env.client.get(Secret, key('a1'))).type).toBe('kubernetes.io/basic-auth')
    await env.client.delete(Secret, 'secret-a')
    await env.client.create(Secret({ metadata: { name: 'secret-a' }, data: { password: base64('x') } }))
    await env.settled()
    expect((await env.client.get(Secret, key('a1'))).type).toBe('Opaque')
    expect(await copies(env)).toEqual({ a1: 'x', a2: 'x' })
  })

  test('g: a Secret with the same name in another namespace does not trigger a reconcile', async () => {
    await using env = await startCopied()
    await env.client.create(Namespace({ metadata: { name: 'other' } }))
    await env.client.create(secretA('other', 'other'))
    await env.client.delete(Secret, key('other'))
    await env.settled()
    expect(env.reconciles()).toHaveLength(1)
    expect(await copies(env)).toEqual({ a1: 'AaAaAa', a2: 'AaAaAa' })
  })

  test('h: a foreign Secret is neither overwritten nor deleted, and a copy is created when it is gone', async () => {
    await using env = await start('a1', 'a2')
    await env.client.create(secretA('precious', 'a1'))
    await env.client.create(secretA())
    await env.client.create(synchA())
    const synch = await env.until(SecSynch, 'secsynch-a', isFalse('Synced'))
    expect(synch.status?.destinations[0]).toEqual({
      namespace: 'a1',
      state: 'Occupied',
      message: 'Secret a1/secret-a is not a copy',
    })
    expect(await copies(env)).toEqual({ a1: 'precious', a2: 'AaAaAa' })
    await env.client.delete(SecSynch, 'secsynch-a')
    await env.gone(SecSynch, 'secsynch-a')
    expect(await copies(env)).toEqual({ a1: 'precious' })

    await env.client.create(synchA())
    await env.until(SecSynch, 'secsynch-a', isFalse('Synced'))
    await env.client.delete(Secret, key('a1'))
    await env.until(SecSynch, 'secsynch-a', isTrue('Synced'), { timeout: '1s' })
    expect(await copies(env)).toEqual({ a1: 'AaAaAa', a2: 'AaAaAa' })
  })

  test('h: two SecSynches do not overwrite each other’s copy', async () => {
    await using env = await startCopied()
    await env.client.create({ ...synchA(['a1'], { sourceNamespace: 'a2' }), metadata: { name: 'second' } })
    const second = await env.until(SecSynch, 'second', isFalse('Synced'))
    expect(second.status?.destinations[0]?.message).toBe('Secret a1/secret-a is a copy for default/secsynch-a')
    await env.settled()
    expect(env.reconciles().length).toBeLessThan(5)
  })

  test('h: the source namespace is rejected as a destination', async () => {
    await using env = await start()
    await expect(env.client.create(synchA(['default']))).rejects.toMatchObject({
      reason: 'Invalid',
      causes: [{ field: 'spec.destinationNamespaces' }],
    })
  })

  test('i: a missing namespace blocks neither the other destinations nor the status', async () => {
    await using env = await start('a2')
    await env.client.create(secretA())
    await env.client.create(synchA(['a1', 'a2']))
    const synch = await env.until(SecSynch, 'secsynch-a', isFalse('Synced'))
    expect(states(synch)).toEqual(['a1 NoNamespace', 'a2 Copied'])
    expect(synch.status?.lastSyncTime).toBeDefined()
    expect(synch.status?.conditions[0]?.message).toBe('no copy in a1')
  })

  test('j: a source that is created later is copied immediately', async () => {
    await using env = await start('a1', 'a2')
    await env.client.create(synchA())
    await env.until(SecSynch, 'secsynch-a', isFalse('Synced'))
    await env.client.create(secretA())
    await env.until(SecSynch, 'secsynch-a', isTrue('Synced'), { timeout: '1s' })
    expect(await copies(env)).toEqual({ a1: 'AaAaAa', a2: 'AaAaAa' })
  })
})
