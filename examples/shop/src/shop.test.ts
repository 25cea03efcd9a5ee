import { findCondition, isNotFound } from 'kubewright'
import { controllerRef } from 'kubewright/api'
import { ConfigMap, Deployment, Job, Service, StatefulSet } from 'kubewright/k8s'
import { isTrue, startTestEnv, type TestEnv } from 'kubewright/testing'
import { describe, expect, test } from 'vitest'
import { operator } from './operator.ts'
import { Shop } from './shop.ts'

const start = (): Promise<TestEnv> => startTestEnv(operator, { time: 'virtual' })
const books = (spec: object = {}) => Shop({ metadata: { name: 'books' }, spec: { image: 'books:1', ...spec } })
const reasons = ({ status }: Shop) =>
  Object.fromEntries((status?.conditions ?? []).map(({ type, reason }) => [type, reason]))

const conditionOf = (shop: Shop, type: string) => findCondition(shop.status?.conditions, type as never)

describe('a Shop', () => {
  test('applies its dependents in the order of their dependencies', async () => {
    await using env = await start()
    await env.client.create(books())
    const waiting = await env.until(Shop, 'books', (shop) => shop.status !== undefined)
    expect(reasons(waiting)).toEqual({
      DatabaseReady: 'Progressing',
      MigrationReady: 'Waiting',
      WebReady: 'Waiting',
      Ready: 'Progressing',
    })
    expect(conditionOf(waiting, 'WebReady')).toMatchObject({ message: 'waiting for migration' })
    expect(await env.client.list(Deployment)).toEqual([])

    const ready = await env.until(Shop, 'books', isTrue('Ready'))
    expect(ready.status?.url).toBe('http://books.default.svc')
    expect(reasons(ready)).toEqual({
      DatabaseReady: 'Ready',
      MigrationReady: 'Ready',
      WebReady: 'Ready',
      Ready: 'Ready',
    })
    const [migration] = await env.client.list(Job)
    expect(migration).toMatchObject({
      metadata: { labels: { 'kubewright.dev/dependent': 'migration' } },
      spec: { template: { spec: { containers: [{ env: [{ name: 'DATABASE', value: 'books-database' }] }] } } },
    })
    await env.client.get(Service, 'books')
  })

  test('deletes a dependent that is no longer wanted, and one that has another name now', async () => {
    await using env = await start()
    await env.client.create(books({ search: true }))
    await env.until(Shop, 'books', isTrue('SearchReady'))
    await env.until(Shop, 'books', isTrue('Ready'))
    await env.client.patch(Shop, 'books', { spec: { search: false, image: 'books:2' } })
    await env.gone(Deployment, 'books-search')
    await env.gone(Job, 'books-migration-books-1')
    const shop = await env.until(Shop, 'books', (each) => isTrue('Ready')(each) && each.spec.image === 'books:2')
    expect(conditionOf(shop, 'SearchReady')).toBeUndefined()
    await env.until(Deployment, 'books-web', ({ spec }) => spec?.template.spec?.containers[0]?.image === 'books:2')
  })

  test('keeps a dependent while it waits for another', async () => {
    await using env = await start()
    await env.client.create(books())
    await env.until(Shop, 'books', isTrue('Ready'))
    const before = await env.client.get(Deployment, 'books-web')
    await env.client.patch(Shop, 'books', { spec: { image: 'books:2' } })
    const waiting = await env.until(Shop, 'books', (shop) => conditionOf(shop, 'WebReady')?.reason === 'Waiting')
    expect(conditionOf(waiting, 'WebReady')).toMatchObject({ message: 'waiting for migration' })
    expect((await env.client.get(Deployment, 'books-web')).metadata.uid).toBe(before.metadata.uid)
    await env.until(Shop, 'books', isTrue('Ready'))
  })

  test('deletes its dependents in the opposite order', async () => {
    await using env = await start()
    await env.client.create(books())
    await env.until(Shop, 'books', isTrue('Ready'))
    // Another controller holds the web servers back.
    await env.client.patch(Deployment, 'books-web', { metadata: { finalizers: ['example.com/hold'] } })
    await env.client.delete(Shop, 'books')
    await env.until(Deployment, 'books-web', ({ metadata }) => metadata.deletionTimestamp !== undefined)
    await env.settled()
    expect((await env.client.get(StatefulSet, 'books-database')).metadata.deletionTimestamp).toBeUndefined()
    await env.client.patch(Deployment, 'books-web', { metadata: { finalizers: [] } })
    await env.gone(Shop, 'books')
    await expect(env.client.get(StatefulSet, 'books-database')).rejects.toSatisfy(isNotFound)
  })

  test('reports a dependent that cannot be applied, and still applies the others', async () => {
    await using env = await start()
    // Another owner has the name of the Service.
    const other = await env.client.create(ConfigMap({ metadata: { name: 'other' } }))
    const metadata = { name: 'books', ownerReferences: [controllerRef(other)] }
    await env.client.create(Service({ metadata, spec: { ports: [{ port: 1 }] } }))
    await env.client.create(books())
    const shop = await env.until(Shop, 'books', isTrue('WebReady'))
    expect(conditionOf(shop, 'Ready')).toMatchObject({
      status: 'False',
      reason: 'Failed',
      message: 'cannot apply service',
    })
  })
})
