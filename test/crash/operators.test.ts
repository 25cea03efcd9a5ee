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
import { lasting } from './lasting.ts'
import type { Life } from './life.ts'
import { isWrite } from './lives.ts'
import { type Run, type Scenario, Stage } from './scenario.ts'

const workloads = async (client: ApiClient): Promise<unknown> => ({
  deployments: lasting(await client.list(Deployment)),
  services: lasting(await client.list(Service, { fieldSelector: 'metadata.name!=kubernetes' })),
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
    'meddled with': (client) => client.delete(Deployment, 'app'),
    deleted: (client) => client.delete(AppService, 'app'),
  },
  state: async (client) => ({ apps: lasting(await client.list(AppService)), ...((await workloads(client)) as object) }),
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
    'one namespace less': (client) => client.patch(SecSynch, 'synch', { spec: { destinationNamespaces: ['a1'] } }),
    deleted: (client) => client.delete(SecSynch, 'synch'),
  },
  state: async (client) => ({
    synchs: lasting(await client.list(SecSynch)),
    secrets: lasting(await client.list(Secret, { namespace: allNamespaces, fields: { 'metadata.name': 'secret-a' } })),
  }),
}

const home: Scenario<ReturnType<typeof fakeDns>> = {
  kinds: [Home],
  world: fakeDns,
  operator: (life: Life, dns) =>
    homeOperator({
      point: (domain, target, options) =>
        life.call('dns point', options.signal, () => dns.point(domain, target, options)),
      release: (domain, options) => life.call('dns release', options.signal, () => dns.release(domain, options)),
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
    homes: lasting(await client.list(Home)),
    dns: { ...dns.records },
    ...((await workloads(client)) as object),
  }),
}

function describeCrashes<World>(name: string, scenario: Scenario<World>): void {
  describe(`the operator of ${name}`, () => {
    test.each(['is lost', 'takes effect'] as const)(
      'comes to the same end when it dies at any of its calls, which %s',
      { timeout: 300_000 },
      async (call) => {
        await using stage = await Stage.set(scenario)
        const { states, lives } = await stage.play([])
        const calls = lives[0] ?? []
        expect(calls.length).toBeGreaterThan(9)
        for (let at = 1; at <= calls.length; at++) {
          const run = await stage.play([{ at, call }])
          const when = `it died at call ${at}, ${calls[at - 1]}, which ${call}`
          expect(run.states, when).toEqual(states)
          expect(run.lives, when).toHaveLength(2)
        }
      },
    )

    test('comes to the same end when it dies after each of its writes', { timeout: 180_000 }, async () => {
      await using stage = await Stage.set(scenario)
      const reference = await stage.play([])
      const run = await stage.play(() => ({ at: 1, call: 'takes effect', isFateful: isWrite }))
      expect(run.states).toEqual(reference.states)
      expect(run.lives.length).toBeGreaterThan(9)
      // Whoever takes over does not do again what was done.
      const writes = (of: Run): number => of.lives.flat().filter(isWrite).length
      expect(writes(run)).toBeLessThanOrEqual(writes(reference))
    })
  })
}
describeCrashes('AppService', appService)
describeCrashes('SecSynch', secSynch)
describeCrashes('Home', home)

test('the operator of the tutorial gets stuck when it dies at certain calls, which shows that these tests can fail', async () => {
  await using stage = await Stage.set({
    ...appService,
    operator: () => tutorialOperator,
    steps: {
      created: (client) => {
        const spec = { replicas: 2, image: 'nginx:1', ports: [{ port: 80, targetPort: 80, nodePort: 30_002 }] }
        return client.create(AppService({ metadata: { name: 'app' }, spec }))
      },
    },
  })
  const { states, lives } = await stage.play([])
  const fatal: (string | undefined)[] = []
  for (let at = 1; at <= lives[0]!.length; at++) {
    const run = await stage.play([{ at, call: 'is lost' }])
    if (!isDeepStrictEqual(run.states, states)) fatal.push(lives[0]![at - 1])
  }
  // Its note of the last spec, without which it knows no way on, comes last.
  expect(fatal).toEqual([
    'POST /api/v1/namespaces/default/services',
    'PUT /apis/batch.example.com/v1alpha1/namespaces/default/appservices/app',
  ])
})
