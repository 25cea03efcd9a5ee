// The control plane is stopped or killed during a roll-out and restarted from its data folder.
import { type AnyKind, crdOf, type Infer } from '@kubewright/api'
import { type ApiClient, connect } from '@kubewright/client'
import { CustomResourceDefinition, Deployment, Pod, ReplicaSet } from '@kubewright/k8s'
import { createManager } from '@kubewright/runtime'
import { isTrue } from '@kubewright/testing'
import { expect, test } from 'vitest'
import { AppService } from '../../examples/app-service/src/app-service.ts'
import { operator } from '../../examples/app-service/src/operator.ts'
import { freePort } from '../../packages/storage/src/testdata/free-port.ts'
import { TemporaryFolder, UpProcess } from '../up/up-process.ts'

// Enough for a roll-out with many steps.
const replicas = 20

/** Watches an object. Resolves with a function that resolves with the next accepted state. */
async function follow<K extends AnyKind>(client: ApiClient, kind: K, name: string) {
  const signal = AbortSignal.timeout(60_000)
  const stream = await client.watch(kind, { fields: { 'metadata.name': name }, sendInitialEvents: true, signal })
  return async (accept: (object: Infer<K>) => boolean): Promise<Infer<K>> => {
    for await (const event of stream) {
      if (event.type !== 'BOOKMARK' && event.type !== 'DELETED' && accept(event.object)) return event.object
    }
    throw new Error(`The watch of ${kind.kind} ${name} ended`)
  }
}

/** Resolves with the first accepted state of an object. */
async function until<K extends AnyKind>(
  client: ApiClient,
  kind: K,
  name: string,
  accept: (object: Infer<K>) => boolean,
): Promise<Infer<K>> {
  return (await follow(client, kind, name))(accept)
}

/** Starts the operator. Resolves with a function that stops it. */
async function runOperator(kubeconfig: string): Promise<() => Promise<void>> {
  const client = await connect({ kubeconfig })
  const manager = createManager({ operator, client, leaderElection: false })
  const stop = new AbortController()
  const running = manager.start({ signal: stop.signal })
  return async () => {
    stop.abort()
    await running
    await client[Symbol.asyncDispose]()
  }
}

const imageOf = (spec: { readonly containers: readonly { readonly image?: string }[] } | undefined) =>
  spec?.containers[0]?.image

test.each([
  ['SIGTERM', 'keeps running'],
  ['SIGKILL', 'keeps running'],
  ['SIGKILL', 'restarts'],
] as const)(
  'a roll-out completes after %s of the control plane while the operator %s',
  {
    timeout: 180_000,
  },
  async (signal, operatorState) => {
    using folder = new TemporaryFolder()
    const flags = ['--nodes', '1', '--port', String(await freePort())]
    await using first = await UpProcess.start(flags, folder.path)
    const client = await connect({ kubeconfig: first.kubeconfig })
    await client.create(crdOf(AppService))
    const definition = 'appservices.batch.example.com'
    await until(client, CustomResourceDefinition, definition, isTrue('Established'))
    let stopOperator = await runOperator(first.kubeconfig)
    await client.create(AppService({ metadata: { name: 'app' }, spec: { replicas, image: 'nginx:1' } }))
    await until(client, AppService, 'app', ({ status }) => status?.availableReplicas === replicas)

    // Watch from before the start, so that no step is missed.
    const rollOut = await follow(client, Deployment, 'app')
    await client.patch(AppService, 'app', { spec: { image: 'nginx:2' } })
    const { status } = await rollOut(({ metadata, spec, status: now = {} }) => {
      const isNew = imageOf(spec?.template.spec) === 'nginx:2' && now.observedGeneration === metadata.generation
      return isNew && (now.updatedReplicas ?? 0) > 0
    })
    await first.stop(signal)
    expect(status?.updatedReplicas).toBeLessThan(replicas)
    if (operatorState === 'restarts') await stopOperator()

    await using _ = await UpProcess.start(flags, folder.path)
    if (operatorState === 'restarts') stopOperator = await runOperator(first.kubeconfig)
    const done = await until(client, Deployment, 'app', ({ status: now = {} }) => {
      return now.updatedReplicas === replicas && now.replicas === replicas && now.availableReplicas === replicas
    })
    expect(done.metadata.annotations).toMatchObject({ 'deployment.kubernetes.io/revision': '2' })
    await until(client, AppService, 'app', ({ status: now }) => now?.availableReplicas === replicas)
    const sets = await client.list(ReplicaSet)
    expect(sets.map(({ spec }) => [imageOf(spec?.template?.spec), spec?.replicas]).sort()).toEqual([
      ['nginx:1', 0],
      ['nginx:2', replicas],
    ])
    const pods = (await client.list(Pod)).filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    expect(pods.map(({ spec }) => imageOf(spec))).toEqual(Array(replicas).fill('nginx:2'))

    // The operator still works.
    await client.patch(AppService, 'app', { spec: { replicas: 1 } })
    await until(client, AppService, 'app', ({ status: now }) => now?.replicas === 1)
    await stopOperator()
    await client[Symbol.asyncDispose]()
  },
)
