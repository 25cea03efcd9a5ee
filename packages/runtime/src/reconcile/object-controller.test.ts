import { Deployment, Service } from '@kubewright/k8s'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { defineController } from '../define-controller.ts'
import { type Bench, startBench } from './testdata/bench.ts'
import { Home } from './testdata/home.ts'

let bench: Bench
beforeEach(async () => {
  bench = await startBench()
})
afterEach(async () => {
  await bench[Symbol.asyncDispose]()
})

const deploymentFor = (home: Home, image = home.spec.image) =>
  Deployment({
    metadata: { name: home.metadata.name },
    spec: {
      replicas: home.spec.replicas,
      selector: { matchLabels: { app: home.metadata.name } },
      template: {
        metadata: { labels: { app: home.metadata.name } },
        spec: {
          containers: [
            {
              name: 'web',
              image,
              ports: [{ containerPort: 8080 }],
              resources: { requests: { cpu: '1000m' } },
              securityContext: {},
            },
          ],
        },
      },
    },
  })

const create = (name = 'cosy', spec: { image: string; replicas?: number } = { image: 'nginx:1.27' }) =>
  bench.client.create(Home({ metadata: { name }, spec }))

describe('apply()', () => {
  const controller = defineController(Home, {
    owns: [Deployment, Service],
    async reconcile(home, { apply }) {
      const deployment = await apply(deploymentFor(home))
      return { status: { readyReplicas: deployment.status?.readyReplicas ?? 0 } }
    },
  })

  test('makes a child, and asks the server no more while nothing would change', async () => {
    const home = await create()
    const reconcile = bench.run(controller)
    await reconcile('default/cosy')
    expect(bench.writes()).toEqual([
      'PATCH /apis/apps/v1/namespaces/default/deployments/cosy',
      'PATCH /apis/ajd.example.com/v1/namespaces/default/homes/cosy/status',
    ])
    const deployment = await bench.client.get(Deployment, 'cosy')
    expect(deployment.metadata.ownerReferences).toEqual([
      {
        apiVersion: 'ajd.example.com/v1',
        kind: 'Home',
        name: 'cosy',
        uid: home.metadata.uid,
        controller: true,
        blockOwnerDeletion: true,
      },
    ])
    expect(deployment.metadata.managedFields?.map(({ manager }) => manager)).toEqual(['home-operator/home'])
    await reconcile('default/cosy')
    expect(bench.writes()).toEqual([])
  })
})
