// The control plane is stopped in the middle of a roll-out and started again from its folder; operators stay, or begin anew with it.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type AnyKind, crdOf, type Infer, isConditionTrue } from '@kubewright/api'
import { AsyncDisposer, systemClock as clock } from '@kubewright/base'
import { type ApiClient, connect, parseKubeconfig, resolveContext, systemConfigHost } from '@kubewright/client'
import { type ControlPlane, startControlPlane } from '@kubewright/controlplane'
import { CustomResourceDefinition, Deployment, Pod, ReplicaSet } from '@kubewright/k8s'
import { createManager } from '@kubewright/runtime'
import { createServerIdentity } from '@kubewright/server'
import { openDurableStore } from '@kubewright/storage'
import { expect, test } from 'vitest'
import { AppService } from '../../examples/app-service/src/app-service.ts'
import { operator } from '../../examples/app-service/src/operator.ts'

const replicas = 6

/** A control plane in a folder, at one address over all its restarts. */
class Plane implements AsyncDisposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'kubewright-restart-'))
  readonly #identity = createServerIdentity(clock.now())
  #port: number | undefined
  #running = new AsyncDisposer()

  async start(): Promise<ControlPlane> {
    this.#running = new AsyncDisposer()
    const store = this.#running.use(await openDurableStore(this.#folder))
    // Slow enough to be interrupted.
    const nodes = { nodes: 1, plan: { default: { readyAfter: '100ms' } } } as const
    const plane = this.#running.use(await startControlPlane({ store, clock, nodes }))
    const { port, kubeconfig } = await plane.listen({ identity: this.#identity, port: this.#port ?? 0 })
    this.#port = port
    this.kubeconfig = kubeconfig
    return plane
  }

  kubeconfig = ''

  async connect(): Promise<ApiClient> {
    const config = await resolveContext(
      parseKubeconfig(this.kubeconfig, 'a test'),
      {},
      { host: systemConfigHost, clock },
    )
    return connect({ config, clock })
  }

  stop(): Promise<void> {
    return this.#running[Symbol.asyncDispose]()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
    rmSync(this.#folder, { recursive: true })
  }
}

async function until<K extends AnyKind>(
  client: ApiClient,
  kind: K,
  name: string,
  accept: (object: Infer<K>) => boolean,
): Promise<Infer<K>> {
  const options = { fields: { 'metadata.name': name }, sendInitialEvents: true, signal: AbortSignal.timeout(20_000) }
  for await (const event of await client.watch(kind, options)) {
    if (event.type !== 'BOOKMARK' && event.type !== 'DELETED' && accept(event.object)) return event.object
  }
  throw new Error(`The watch of ${kind.kind} ${name} has ended`)
}

/** Runs the operator until stopped. */
function runOperator(client: ApiClient): () => Promise<void> {
  const manager = createManager({ operator, client, leaderElection: false })
  const stop = new AbortController()
  const running = manager.start({ signal: stop.signal })
  return async () => {
    stop.abort()
    await running
    await client[Symbol.asyncDispose]()
  }
}

test.each(['lives on', 'begins anew too'])(
  'a roll-out ends well when the control plane restarts, and the operator %s',
  async (fate) => {
    await using plane = new Plane()
    let client = (await plane.start()).client()
    await client.create(crdOf(AppService))
    await until(client, CustomResourceDefinition, 'appservices.batch.example.com', (crd) =>
      isConditionTrue(crd, 'Established'),
    )
    let stopOperator = runOperator(await plane.connect())
    await client.create(AppService({ metadata: { name: 'app' }, spec: { replicas, image: 'nginx:1' } }))
    await until(client, AppService, 'app', ({ status }) => status?.availableReplicas === replicas)

    await client.patch(AppService, 'app', { spec: { image: 'nginx:2' } })
    const { status } = await until(client, Deployment, 'app', ({ metadata, spec, status: now = {} }) => {
      const isNew =
        spec?.template.spec?.containers[0]?.image === 'nginx:2' && now.observedGeneration === metadata.generation
      return isNew && (now.updatedReplicas ?? 0) > 0
    })
    expect(status?.updatedReplicas).toBeLessThan(replicas)
    if (fate === 'begins anew too') await stopOperator()
    await plane.stop()

    client = (await plane.start()).client()
    if (fate === 'begins anew too') stopOperator = runOperator(await plane.connect())
    const done = await until(client, Deployment, 'app', ({ metadata, status: now = {} }) => {
      return (
        now.observedGeneration === metadata.generation && now.updatedReplicas === replicas && now.replicas === replicas
      )
    })
    expect(done.metadata.annotations).toMatchObject({ 'deployment.kubernetes.io/revision': '2' })
    await until(client, Deployment, 'app', ({ status: now }) => now?.availableReplicas === replicas)
    await until(client, AppService, 'app', ({ status: now }) => now?.availableReplicas === replicas)
    const sets = await client.list(ReplicaSet)
    expect(sets.map(({ spec }) => [spec?.template?.spec?.containers[0]?.image, spec?.replicas]).sort()).toEqual([
      ['nginx:1', 0],
      ['nginx:2', replicas],
    ])
    const pods = (await client.list(Pod)).filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    expect(pods.map(({ spec }) => spec.containers[0]?.image)).toEqual(Array(replicas).fill('nginx:2'))

    // The operator is still at it.
    await client.patch(AppService, 'app', { spec: { replicas: 1 } })
    await until(client, AppService, 'app', ({ status: now }) => now?.replicas === 1)
    await stopOperator()
  },
)
