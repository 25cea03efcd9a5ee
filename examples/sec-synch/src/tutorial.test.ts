// The mistakes of the tutorial's last version. sec-synch.test.ts tests the correct behaviour under the same letters.
import { allNamespaces } from 'kubewright'
import { Namespace, Secret } from 'kubewright/k8s'
import { startTestEnv, type TestEnv } from 'kubewright/testing'
import { describe, expect, test } from 'vitest'
import { SecSynch } from './sec-synch.ts'
import { tutorialOperator } from './tutorial.ts'

const secretA = (namespace = 'default', colour = 'Ymx1ZQ==') =>
  Secret({
    metadata: { name: 'secret-a', namespace, labels: { team: 'a' } },
    type: 'example.com/colours',
    data: { colour },
  })
const synchA = SecSynch({
  metadata: { name: 'secsynch-a' },
  spec: { sourceNamespace: 'default', secretName: 'secret-a', destinationNamespaces: ['a1', 'a2'] },
})

async function start(namespaces: readonly string[], ...objects: (typeof synchA | ReturnType<typeof secretA>)[]) {
  const env = await startTestEnv(tutorialOperator, { time: 'virtual', nodes: 0 })
  for (const name of namespaces) await env.client.create(Namespace({ metadata: { name } }))
  for (const object of objects) await env.client.create(object)
  await env.settled()
  return env
}
const startCopied = (): Promise<TestEnv> => start(['a1', 'a2'], secretA(), synchA)

async function copies(env: TestEnv): Promise<string[]> {
  const secrets = await env.client.list(Secret, { namespace: allNamespaces, fields: { 'metadata.name': 'secret-a' } })
  return secrets.map(({ metadata }) => metadata.namespace ?? '').filter((namespace) => namespace !== 'default')
}

describe('the tutorial', () => {
  test('copies, and finds a later namespace within three minutes', async () => {
    await using env = await start(['a1'], secretA(), synchA)
    expect(await copies(env)).toEqual(['a1'])
    await env.client.create(Namespace({ metadata: { name: 'a2' } }))
    await env.advance('2m')
    expect(await copies(env)).toEqual(['a1'])
    await env.advance('1m')
    await env.settled()
    expect(await copies(env)).toEqual(['a1', 'a2'])
  })

  test('b: blocks the deletion of a SecSynch when a copy was deleted with its namespace', async () => {
    await using env = await startCopied()
    await env.client.delete(Namespace, 'a1')
    await env.gone(Namespace, 'a1')
    await env.client.delete(SecSynch, 'secsynch-a')
    await env.advance('30m')
    expect((await env.client.get(SecSynch, 'secsynch-a')).metadata.finalizers).toHaveLength(1)
    expect(env.reconciles()[0]).toMatchObject({ result: 'error' })
  })

  test('c: keeps the copies of a deleted source', async () => {
    await using env = await startCopied()
    await env.client.delete(Secret, 'secret-a')
    await env.advance('30m')
    expect(await copies(env)).toEqual(['a1', 'a2'])
  })

  test('d: keeps the copy in a namespace that is no longer listed', async () => {
    await using env = await startCopied()
    await env.client.patch(SecSynch, 'secsynch-a', { spec: { destinationNamespaces: ['a2'] } })
    await env.advance('30m')
    expect(await copies(env)).toEqual(['a1', 'a2'])
  })

  test('e and f: overwrites the labels of the source and does not copy its type', async () => {
    await using env = await startCopied()
    expect((await env.client.get(Secret, 'secret-a')).metadata.labels).toEqual({ 'secsynch-enable': 'true' })
    expect((await env.client.get(Secret, { name: 'secret-a', namespace: 'a1' })).type).toBe('Opaque')
  })

  test('g: reconciles for an unrelated Secret with the same name', async () => {
    await using env = await startCopied()
    await env.client.create(Namespace({ metadata: { name: 'other' } }))
    const other = secretA('other')
    await env.client.create({ ...other, metadata: { ...other.metadata, labels: { 'secsynch-enable': 'true' } } })
    const before = env.reconciles().length
    await env.client.delete(Secret, { name: 'secret-a', namespace: 'other' })
    await env.settled()
    expect(env.reconciles().length).toBe(before + 1)
  })

  test('h: overwrites and later deletes a foreign Secret', async () => {
    await using env = await start(['a1', 'a2'], secretA('a1', 'cHJlY2lvdXM='), secretA(), synchA)
    const found = await env.client.get(Secret, { name: 'secret-a', namespace: 'a1' })
    expect(found.data).toEqual({ colour: 'Ymx1ZQ==' })
    await env.client.delete(SecSynch, 'secsynch-a')
    await env.gone(SecSynch, 'secsynch-a')
    expect(await copies(env)).toEqual([])
  })

  test('i: stops at a missing namespace without a status', async () => {
    await using env = await start(['a2'], secretA(), synchA)
    expect(await copies(env)).toEqual([])
    expect((await env.client.get(SecSynch, 'secsynch-a')).status).toBeUndefined()
  })

  test('j: finds a later source after up to three minutes', async () => {
    await using env = await start(['a1', 'a2'], synchA)
    await env.client.create(secretA())
    await env.advance('2m')
    expect(await copies(env)).toEqual([])
    await env.advance('1m')
    await env.settled()
    expect(await copies(env)).toEqual(['a1', 'a2'])
  })
})
