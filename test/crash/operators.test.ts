import { isDeepStrictEqual } from 'node:util'
import { type ApiClient, allNamespaces } from '@kubewright/client'
import { Deployment, Namespace, Pod, ReplicaSet, Secret, Service } from '@kubewright/k8s'
import { describe, expect, test } from 'vitest'
import { AppService } from '../../examples/app-service/src/app-service.ts'
import { operator as appServiceOperator } from '../../examples/app-service/src/operator.ts'
import { tutorialOperator } from '../../examples/app-service/src/tutorial.ts'
import { fakeDns } from '../../examples/home/src/dns.ts'
import { Home } from '../../examples/home/src/home.ts'
import { homeOperator } from '../../examples/home/src/operator.ts'
import { operator as secSynchOperator } from '../../examples/sec-synch/src/operator.ts'
import { SecSynch } from '../../examples/sec-synch/src/sec-synch.ts'
import { sampled } from '../sampled.ts'
import { type Scenario, type ScenarioResult, ScenarioRunner } from './crash-scenario.ts'
import type { CrashingProcess } from './crashing-process.ts'
import { reproducible } from './reproducible-state.ts'
import { isWrite } from './run-with-crashes.ts'

const workloads = async (client: ApiClient): Promise<unknown> => ({
  deployments: reproducible(await client.list(Deployment)),
  services: reproducible(await client.list(Service, { fieldSelector: 'metadata.name!=kubernetes' })),
  replicaSets: (await client.list(ReplicaSet)).map(({ spec }) => spec?.replicas),
  pods: (await client.list(Pod)).map(({ status }) => status?.phase),
})

const appService: Scenario<undefined> = {
  kinds: [AppService],
  world: () => undefined,
  operator: () => appServiceOperator,
  steps: {
    created: (client) => {
      const spec = { replicas: 2, image: 'nginx:1', ports: [{ port: 80, targetPort: 'http', nodePort: 30_002 }] }
      return client.create(AppService({ metadata: { name: 'app' }, spec }))
    },
    changed: (client) => client.patch(AppService, 'app', { spec: { replicas: 3, ports: null } }),
    'deployment deleted': (client) => client.delete(Deployment, 'app'),
    deleted: (client) => client.delete(AppService, 'app'),
  },
  state: async (client) => ({
    apps: reproducible(await client.list(AppService)),
    ...((await workloads(client)) as object),
  }),
}

const secSynch: Scenario<undefined> = {
  kinds: [SecSynch],
  world: () => undefined,
  operator: () => secSynchOperator,
  async prepare(client) {
    for (const name of ['a1', 'a2']) await client.create(Namespace({ metadata: { name } }))
    await client.create(Secret({ metadata: { name: 'secret-a' }, data: { password: 'QQ==' } }))
  },
  steps: {
    created: (client) => {
      const spec = { sourceNamespace: 'default', secretName: 'secret-a', destinationNamespaces: ['a1', 'a2'] }
      return client.create(SecSynch({ metadata: { name: 'synch' }, spec }))
    },
    'source changed': (client) => client.patch(Secret, 'secret-a', { data: { password: 'Qg==' } }),
    'namespace removed': (client) => client.patch(SecSynch, 'synch', { spec: { destinationNamespaces: ['a1'] } }),
    deleted: (client) => client.delete(SecSynch, 'synch'),
  },
  state: async (client) => ({
    synchs: reproducible(await client.list(SecSynch)),
    secrets: reproducible(
      await client.list(Secret, { namespace: allNamespaces, fields: { 'metadata.name': 'secret-a' } }),
    ),
  }),
}

const home: Scenario<ReturnType<typeof fakeDns>> = {
  kinds: [Home],
  world: fakeDns,
  operator: (process: CrashingProcess, dns) =>
    homeOperator({
      point: (domain, target, options) =>
        process.call('dns point', options.signal, () => dns.point(domain, target, options)),
      release: (domain, options) => process.call('dns release', options.signal, () => dns.release(domain, options)),
    }),
  steps: {
    created: (client) => {
      const spec = { image: 'nginx:1', replicas: 2, domain: 'cosy.homes.my.domain' }
      return client.create(Home({ metadata: { name: 'cosy' }, spec }))
    },
    changed: (client) => client.patch(Home, 'cosy', { spec: { replicas: 1, port: 3000 } }),
    deleted: (client) => client.delete(Home, 'cosy'),
  },
  state: async (client, dns) => ({
    homes: reproducible(await client.list(Home)),
    dns: { ...dns.records },
    ...((await workloads(client)) as object),
  }),
}

function describeCrashes<World>(name: string, scenario: Scenario<World>): void {
  describe(`the operator of ${name}`, () => {
    test.each(['is lost', 'takes effect'] as const)(
      'reaches the same state after a crash at a call that %s',
      { timeout: 300_000 },
      async (call) => {
        await using runner = await ScenarioRunner.create(scenario)
        const reference = await runner.run([])
        const calls = reference.calls[0] ?? []
        expect(calls.length).toBeGreaterThan(9)
        for (const at of sampled(calls.length)) {
          const run = await runner.run([{ at, call }])
          const when = `crash at call ${at}, ${calls[at - 1]}, which ${call}`
          expect(run.states, when).toEqual(reference.states)
          expect(run.calls, when).toHaveLength(2)
        }
      },
    )

    test('reaches the same state after a crash after each write', { timeout: 180_000 }, async () => {
      await using runner = await ScenarioRunner.create(scenario)
      const reference = await runner.run([])
      const run = await runner.run(() => ({ at: 1, call: 'takes effect', counts: isWrite }))
      expect(run.states).toEqual(reference.states)
      expect(run.calls.length).toBeGreaterThan(9)
      // A new process does not repeat writes of the crashed one.
      const writes = (result: ScenarioResult): number => result.calls.flat().filter(isWrite).length
      expect(writes(run)).toBeLessThanOrEqual(writes(reference))
    })
  })
}
describeCrashes('AppService', appService)
describeCrashes('SecSynch', secSynch)
describeCrashes('Home', home)

test('the operator of the tutorial gets stuck after a crash at certain calls, which shows that these tests can fail', async () => {
  await using runner = await ScenarioRunner.create({
    ...appService,
    operator: () => tutorialOperator,
    steps: {
      created: (client) => {
        const spec = { replicas: 2, image: 'nginx:1', ports: [{ port: 80, targetPort: 80, nodePort: 30_002 }] }
        return client.create(AppService({ metadata: { name: 'app' }, spec }))
      },
    },
  })
  const { states, calls } = await runner.run([])
  const fatal: (string | undefined)[] = []
  for (let at = 1; at <= calls[0]!.length; at++) {
    const run = await runner.run([{ at, call: 'is lost' }])
    if (!isDeepStrictEqual(run.states, states)) fatal.push(calls[0]![at - 1])
  }
  // It writes the annotation with the last spec at the end, and cannot continue without it.
  expect(fatal).toEqual([
    'POST /api/v1/namespaces/default/services',
    'PUT /apis/batch.example.com/v1alpha1/namespaces/default/appservices/app',
  ])
})
