// `kubewright up --workers 2`: one control plane that three processes serve. All tests share it; the last one ends it.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CertificateAuthority } from '@kubewright/server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { describeDifference } from '../conformance/compare.ts'
import { knownFailures } from '../conformance/known-gaps.ts'
import { recordedCases, runCases } from '../conformance/run-cases.ts'
import { targetOfKubeconfig } from '../conformance/target.ts'
import { configMap, Requests } from './requests.ts'
import { TemporaryFolder, UpProcess } from './up-process.ts'

interface Named {
  readonly metadata: { readonly name: string }
}
interface Conditioned {
  readonly metadata: { readonly resourceVersion: string }
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] }
}

const core = '/api/v1/namespaces/default'
const patience = { timeout: 60_000, interval: 50 }
const count = 2

let folder: TemporaryFolder
let up: UpProcess
/** Clients with one connection each. With three times as many connections as processes, every process serves some. */
let clients: Requests[] = []

/** The pids of all workers that have become ready, oldest first. */
const readyWorkers = (): number[] =>
  up.notes.flatMap((line) => /^Worker is ready worker=\d+ pid=(\d+)$/.exec(line)?.[1] ?? []).map(Number)
/** Waits until so many workers have become ready. */
async function workersReady(wanted: number): Promise<void> {
  while (readyWorkers().length < wanted) await new Promise((resolve) => setTimeout(resolve, 50))
}
const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
const connect = (): Requests[] =>
  Array.from({ length: 9 }, () => new Requests(join(folder.path, 'kubeconfig'), { maxSockets: 1 }))

beforeAll(async () => {
  folder = new TemporaryFolder()
  const policy = { apiVersion: 'audit.k8s.io/v1', kind: 'Policy', omitStages: ['RequestReceived'] }
  const rules = [{ level: 'Metadata', resources: [{ resources: ['configmaps'] }], namespaces: ['default'] }]
  writeFileSync(join(folder.path, 'audit.yaml'), JSON.stringify({ ...policy, rules }))
  const flags = ['--workers', String(count), '--data', 'data', '--kubeconfig', 'kubeconfig', '--nodes', '1']
  const audit = ['--audit-policy-file', 'audit.yaml', '--audit-log-path', 'audit.log']
  up = await UpProcess.start([...flags, ...audit], folder.path)
  await workersReady(count)
  clients = connect()
}, 120_000)

afterAll(async () => {
  for (const client of clients) client[Symbol.dispose]()
  await up[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})

describe('kubewright up --workers 2', () => {
  it('shows a write to every process as soon as it is acknowledged', async () => {
    for (let i = 0; i < 30; i++) {
      const writer = clients[i % clients.length]!
      const { body } = await writer.send('POST', `${core}/configmaps`, configMap(`seen-${i}`, '1'))
      const replies = await Promise.all(clients.map((client) => client.send('GET', `${core}/configmaps/seen-${i}`)))
      expect(replies.map(({ body }) => body.metadata.resourceVersion)).toEqual(
        clients.map(() => body.metadata.resourceVersion),
      )
      const lists = await Promise.all(clients.map((client) => client.send('GET', `${core}/configmaps`)))
      for (const { body } of lists) {
        expect(body.items.filter(({ metadata }: Named) => metadata.name.startsWith('seen-'))).toHaveLength(i + 1)
      }
    }
    const versions = new Set<string>()
    for (const client of clients) {
      const { body } = await client.send('PUT', `${core}/configmaps/seen-0`, configMap('seen-0', String(versions.size)))
      versions.add(body.metadata.resourceVersion)
    }
    expect(versions.size).toBe(clients.length)
  })

  it('serves a custom resource definition and new permissions from every process at once', async () => {
    const [first] = clients as [Requests]
    const version = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }
    const names = { plural: 'things', singular: 'thing', kind: 'Thing' }
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
    await first.send('POST', path, {
      metadata: { name: 'things.example.com' },
      spec: { group: 'example.com', scope: 'Namespaced', names, versions: [version] },
    })
    let since = ''
    await first.until(
      `${path}?watch=1&fieldSelector=metadata.name%3Dthings.example.com`,
      ({ metadata, status }: Conditioned) => {
        since = metadata.resourceVersion
        return status?.conditions?.some((one) => one.type === 'Established' && one.status === 'True') ?? false
      },
    )
    const things = '/apis/example.com/v1/namespaces/default/things'
    const body = { apiVersion: 'example.com/v1', kind: 'Thing' }
    const replies = await Promise.all(
      clients.map((client, i) => client.send('POST', things, { ...body, metadata: { name: `t${i}` } })),
    )
    expect(replies.map(({ status }) => status)).toEqual(clients.map(() => 201))
    for (const client of clients) {
      const types: string[] = []
      await client.until(`${things}?watch=1&resourceVersion=${since}`, (_, type) => {
        types.push(type)
        return type !== 'ADDED' || types.length === clients.length
      })
      expect(types).toEqual(clients.map(() => 'ADDED'))
    }
    const rules = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRoleBinding', metadata: { name: 'ada' } }
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' }
    const subjects = [{ kind: 'User', name: 'ada', apiGroup: 'rbac.authorization.k8s.io' }]
    const bindings = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings'
    expect((await clients[2]!.send('POST', bindings, { ...rules, roleRef, subjects })).status).toBe(201)
    const reads = await Promise.all(
      clients.map((client) => client.send('GET', `${core}/configmaps`, undefined, { 'impersonate-user': 'ada' })),
    )
    expect(reads.map(({ status }) => status)).toEqual(clients.map(() => 200))
  })

  it('gives out each cluster IP and node port once', async () => {
    const replies = await Promise.all(
      Array.from({ length: 60 }, (_, i) =>
        clients[i % clients.length]!.send('POST', `${core}/services`, {
          metadata: { name: `service-${i}` },
          spec: { type: 'NodePort', ports: [{ port: 80 }] },
        }),
      ),
    )
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 201))
    expect(new Set(replies.map(({ body }) => body.spec.clusterIP)).size).toBe(60)
    expect(new Set(replies.map(({ body }) => body.spec.ports[0].nodePort)).size).toBe(60)
  })

  it('serves logs of simulated nodes from every process', async () => {
    const spec = { containers: [{ name: 'c', image: 'i' }] }
    await expect
      .poll(
        async () => (await clients[0]!.send('POST', `${core}/pods`, { metadata: { name: 'p' }, spec })).status,
        patience,
      )
      .toBe(201)
    await clients[0]!.until(`${core}/pods?watch=1`, ({ status }) => status?.phase === 'Running')
    const logs = await Promise.all(clients.map((client) => client.send('GET', `${core}/pods/p/log`)))
    expect(new Set(logs.map(({ status, text }) => `${status} ${text}`)).size).toBe(1)
    expect(logs[0]!.status).toBe(200)
    const exec = await Promise.all(clients.map((client) => client.send('POST', `${core}/pods/p/exec?command=ls`)))
    expect(new Set(exec.map(({ body }) => body?.message)).size).toBe(1)
  })

  it('writes one audit log', async () => {
    const creates = (): number =>
      readFileSync(join(folder.path, 'audit.log'), 'utf8')
        .split('\n')
        .filter((line) => line.includes('"verb":"create"') && line.includes('kubernetes-admin')).length
    await expect.poll(creates, patience).toBe(30)
  })

  it('answers recorded requests like kube-apiserver', { timeout: 240_000 }, async () => {
    const pki = (file: string): string => readFileSync(join(folder.path, 'data/pki', file), 'utf8')
    const areas = new Set(['concurrency', 'watch', 'list', 'crd', 'webhooks', 'vap'])
    const cases = recordedCases().filter(({ area, test }) => areas.has(area) && !test.needs?.includes('no-kcm'))
    const results = await runCases({
      target: {
        ...targetOfKubeconfig(up.kubeconfig),
        clientCa: new CertificateAuthority({ cert: pki('ca.crt'), key: pki('ca.key') }),
      },
      // One in four: the command test/conformance/main.ts runs all of them.
      cases: cases.filter((_, i) => i % 4 === 0),
      controllers: true,
      concurrency: 8,
      timeoutSeconds: 60,
    })
    const failed = results.filter(({ outcome, id }) => outcome === 'failed' && !knownFailures.has(id))
    expect(failed.map(({ area, id, differences }) => `${area}/${id}: ${describeDifference(differences[0]!)}`)).toEqual(
      [],
    )
    expect(results.length).toBeGreaterThan(40)
  })

  it('restarts a killed worker, whose watches resume without a lost or repeated event', async () => {
    const [victim] = readyWorkers() as [number]
    const { body } = await clients[0]!.send('POST', `${core}/configmaps`, configMap('before', '1'))
    const since = body.metadata.resourceVersion
    const names = Array.from({ length: 20 }, (_, i) => `during-${i}`)
    const watches = clients.map((client) => follow(client, `${core}/configmaps`, since, names.at(-1)!))
    process.kill(victim, 'SIGKILL')
    const writer = new Requests(up.kubeconfig)
    // The connection of the writer may be that of the killed worker; a repeated create gets 409 if the first was made.
    for (const name of names) {
      const create = (): Promise<unknown> => writer.send('POST', `${core}/configmaps`, configMap(name, '1'))
      await create().catch(create)
    }
    for (const seen of await Promise.all(watches)) expect(seen).toEqual(names)
    await workersReady(count + 1)
    expect(up.notes.join('\n')).toMatch(
      new RegExp(`Worker ended; restarting worker=1 pid=${victim} reason="SIGKILL" after="500ms"`),
    )
    // The new worker has the history from before its start.
    const fresh = connect()
    for (const client of fresh) expect(await follow(client, `${core}/configmaps`, since, names.at(-1)!)).toEqual(names)
    for (const client of [...fresh, writer]) client[Symbol.dispose]()
  })

  it('loses no acknowledged write and leaves no process behind when the main process is killed', async () => {
    const client = new Requests(up.kubeconfig)
    await client.send('POST', `${core}/configmaps`, configMap('last', '1'))
    client[Symbol.dispose]()
    const pids = readyWorkers()
    await up.stop('SIGKILL')
    await expect.poll(() => pids.filter(isAlive), patience).toEqual([])
    up = await UpProcess.start(
      ['--workers', String(count), '--data', 'data', '--kubeconfig', 'kubeconfig', '--controllers', 'none'],
      folder.path,
    )
    await workersReady(count)
    for (const client of clients) client[Symbol.dispose]()
    clients = connect()
    for (const client of clients) expect((await client.send('GET', `${core}/configmaps/last`)).status).toBe(200)
  })

  it('lets requests in progress on all processes finish when it stops', async () => {
    const pids = readyWorkers()
    const watches = clients.map((client) =>
      client.until(`${core}/configmaps?watch=1`, () => false).catch(() => 'ended'),
    )
    using client = new Requests(up.kubeconfig)
    expect((await client.send('GET', '/readyz')).status).toBe(200)
    expect(await up.stop('SIGTERM')).toBe(0)
    expect(await Promise.all(watches)).toEqual(clients.map(() => 'ended'))
    expect(pids.filter(isAlive)).toEqual([])
    expect(up.notes.at(-1)).toMatch(/^Stopped after .*: \d+ requests answered, \d+ objects kept in data$/)
    expect(up.notes.filter((line) => line.includes('restarting'))).toEqual([])
    expect(existsSync(join(folder.path, 'data/store/lock'))).toBe(false)
  })
})

/** The names of the objects that a watch adds, up to `last`. Connects again, from the last version, when the connection is closed. */
async function follow(client: Requests, path: string, since: string, last: string): Promise<string[]> {
  const names: string[] = []
  let version = since
  for (let attempt = 0; attempt < 100; attempt++) {
    try {
      await client.until(`${path}?watch=1&resourceVersion=${version}`, (object, type) => {
        if (type === 'ERROR') {
          names.push(`ERROR ${object.message}`)
          return true
        }
        version = object.metadata.resourceVersion
        names.push(object.metadata.name)
        return names.at(-1) === last
      })
      return names
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }
  throw new Error(`The watch of ${path} did not reach ${last}: ${names.join(', ')}`)
}
