import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { AdmissionServer } from '../../testdata/admission-server.ts'

let server: AdmissionServer
beforeAll(async () => {
  server = await AdmissionServer.start()
})
afterAll(() => server[Symbol.asyncDispose]())

type Amounts = Record<string, string>

/** A namespace with a quota whose usage has been counted. */
async function withQuota(name: string, hard: Amounts, used: Amounts, spec: object = {}): Promise<string> {
  const path = await server.namespace(name)
  await server.create(`${path}/resourcequotas`, 'q', { spec: { hard, ...spec } })
  const status = { status: { hard, used } }
  await server.send('PATCH', `${path}/resourcequotas/q/status`, status, 'application/merge-patch+json')
  return path
}
const usedOf = async (path: string): Promise<Amounts> =>
  (await server.send('GET', `${path}/resourcequotas/q`)).status.used
const pod = (requests?: object, more: object = {}): object => ({
  spec: { containers: [{ name: 'c', image: 'i', ...(requests ? { resources: { requests } } : {}) }], ...more },
})

describe('resourceQuota()', () => {
  test('counts objects and rejects the one over the limit', async () => {
    const path = await withQuota(
      'objects',
      { 'count/secrets': '1', secrets: '2' },
      { 'count/secrets': '0', secrets: '0' },
    )
    expect((await server.create(`${path}/secrets`, 'a')).kind).toBe('Secret')
    expect(await usedOf(path)).toEqual({ 'count/secrets': '1', secrets: '1' })
    expect(await server.create(`${path}/secrets`, 'b')).toBe(
      'secrets "b" is forbidden: exceeded quota: q, requested: count/secrets=1, used: count/secrets=1, limited: count/secrets=1',
    )
    expect(await usedOf(path)).toEqual({ 'count/secrets': '1', secrets: '1' })
    expect((await server.create(`${path}/configmaps`, 'b')).kind).toBe('ConfigMap')
  })

  test('sums the requests of pods', async () => {
    const path = await withQuota('pods', { pods: '5', 'requests.cpu': '1' }, { pods: '0', 'requests.cpu': '0' })
    expect(await server.create(`${path}/pods`, 'none', pod())).toBe(
      'pods "none" is forbidden: failed quota: q: must specify requests.cpu for: c',
    )
    await server.create(`${path}/pods`, 'a', pod({ cpu: '600m' }))
    expect(await usedOf(path)).toEqual({ pods: '1', 'requests.cpu': '600m' })
    expect(await server.create(`${path}/pods`, 'b', pod({ cpu: '600m' }))).toBe(
      'pods "b" is forbidden: exceeded quota: q, requested: requests.cpu=600m, used: requests.cpu=600m, limited: requests.cpu=1',
    )
  })

  test('rejects requests before the first count of a quota', async () => {
    const path = await withQuota('uncounted', { pods: '5' }, {})
    expect(await server.create(`${path}/pods`, 'a', pod())).toBe(
      'pods "a" is forbidden: status unknown for quota: q, resources: pods',
    )
  })

  test.each<[string, object, number]>([
    ['Terminating', { activeDeadlineSeconds: 5 }, 1],
    ['Terminating', {}, 0],
    ['NotTerminating', {}, 1],
    ['BestEffort', {}, 1],
    ['NotBestEffort', {}, 0],
    ['CrossNamespacePodAffinity', {}, 0],
  ])('counts under the scope %s a pod with %o %i times', async (scope, spec, count) => {
    const name = `${scope}-${count}`.toLowerCase()
    const path = await withQuota(name, { pods: '5' }, { pods: '0' }, { scopes: [scope] })
    await server.create(`${path}/pods`, 'a', pod(undefined, spec))
    expect(await usedOf(path)).toEqual({ pods: String(count) })
  })

  test('charges an update for the difference', async () => {
    const path = await withQuota('services', { 'services.nodeports': '2' }, { 'services.nodeports': '0' })
    const ports = (...numbers: number[]): object => ({
      spec: { type: 'NodePort', ports: numbers.map((port) => ({ name: `p${port}`, port })) },
    })
    await server.create(`${path}/services`, 's', ports(1))
    expect(await usedOf(path)).toEqual({ 'services.nodeports': '1' })
    const patch = (body: object): Promise<unknown> =>
      server.send('PATCH', `${path}/services/s`, body, 'application/merge-patch+json')
    await patch(ports(1, 2))
    expect(await usedOf(path)).toEqual({ 'services.nodeports': '2' })
    expect(await patch(ports(1, 2, 3))).toBe(
      'services "s" is forbidden: exceeded quota: q, requested: services.nodeports=1, used: services.nodeports=2, limited: services.nodeports=2',
    )
  })

  test('counts storage by class', async () => {
    const gold = 'gold.storageclass.storage.k8s.io/requests.storage'
    const path = await withQuota('claims', { [gold]: '3Gi' }, { [gold]: '0' })
    const claim = { spec: { storageClassName: 'gold', resources: { requests: { storage: '2Gi' } } } }
    await server.create(`${path}/persistentvolumeclaims`, 'a', claim)
    expect(await usedOf(path)).toEqual({ [gold]: '2Gi' })
    expect(await server.create(`${path}/persistentvolumeclaims`, 'b', claim)).toMatch(/exceeded quota: q/)
  })

  test('is exact for concurrent requests', async () => {
    const path = await withQuota('race', { 'count/configmaps': '3' }, { 'count/configmaps': '0' })
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, i) => server.create(`${path}/configmaps`, `c-${i}`)),
    )
    expect(answers.filter((answer) => answer.kind === 'ConfigMap')).toHaveLength(3)
    expect(await usedOf(path)).toEqual({ 'count/configmaps': '3' })
  })

  test('charges nothing for a dry run', async () => {
    const path = await withQuota('dry', { 'count/configmaps': '1' }, { 'count/configmaps': '0' })
    await server.create(`${path}/configmaps?dryRun=All`, 'a')
    expect(await usedOf(path)).toEqual({ 'count/configmaps': '0' })
  })
})
