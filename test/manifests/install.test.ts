// Installing, deploying and removing operators on an embedded cluster.
import { defineResource } from '@kubewright/api'
import { type Clock, nullLogger, systemClock, VirtualClock } from '@kubewright/base'
import { startControlPlane } from '@kubewright/controlplane'
import {
  ClusterRole,
  CustomResourceDefinition,
  Deployment,
  MutatingWebhookConfiguration,
  Namespace,
  NetworkPolicy,
  ServiceAccount,
} from '@kubewright/k8s'
import { defineController, defineOperator, type Operator, registerLocally } from '@kubewright/runtime'
import { s } from '@kubewright/schema'
import { describe, expect, test } from 'vitest'
import { AppService } from '../../examples/app-service/src/app-service.ts'
import { operator as appService } from '../../examples/app-service/src/operator.ts'
import { operator as home } from '../../examples/home/src/operator.ts'
import { ClusterSession, type SessionOptions } from '../../packages/cli/src/install/cluster-session.ts'
import { deployObjects, undeployObjects, uninstallDefinitions } from '../../packages/cli/src/install/deploy-objects.ts'
import { applyDefinitions, pruneDefinitions } from '../../packages/cli/src/install/install-definitions.ts'
import { definitionsOf, installObjects } from '../../packages/cli/src/manifests/install-objects.ts'
import type { ManifestOptions } from '../../packages/cli/src/manifests/manifest-options.ts'
import { describeOperator } from '../../packages/cli/src/manifests/operator-description.ts'

/** A cluster, and sessions on it. */
async function cluster(options: Parameters<typeof startControlPlane>[0] = {}) {
  const plane = await startControlPlane(options)
  const client = plane.client()
  const session = (values: SessionOptions = {}, clock: Clock = systemClock) => {
    const [out, notes]: [string[], string[]] = [[], []]
    const context = {
      out: (line: string) => void out.push(line),
      note: (line: string) => void notes.push(line),
      env: { CI: 'true' },
      clock,
      startedAt: 0,
      signal: new AbortController().signal,
    }
    return { out, notes, session: new ClusterSession(plane.client(), values, context) }
  }
  return { plane, client, session, [Symbol.asyncDispose]: () => plane[Symbol.asyncDispose]() }
}

/** Advances the clock of a session until it times out. Yields after each step, because the cluster uses the system clock. */
async function afterAnHour(clock: VirtualClock, work: Promise<unknown>): Promise<string> {
  let isOver = false
  const failure = work.then(
    () => 'no failure',
    (error: unknown) => (error as Error).message,
  )
  void failure.then(() => (isOver = true))
  while (!isOver) {
    await clock.advance('10s')
    await new Promise<void>((resolve) => setImmediate(resolve))
  }
  return failure
}

const objectsOf = (operator: Operator, options: ManifestOptions = {}) =>
  installObjects(describeOperator(operator), options)

const crd = 'appservices.batch.example.com'
const sample = () => AppService({ metadata: { name: 'app' }, spec: { replicas: 1, image: 'nginx' } })

describe('deployObjects()', () => {
  test('applies all objects, waits for them, and changes nothing the second time', async () => {
    await using world = await cluster()
    const first = world.session()
    await deployObjects(first.session, appService.name, objectsOf(appService))
    expect(first.out).toContain(`customresourcedefinition.apiextensions.k8s.io/${crd} created`)
    expect(first.out).toContain('deployment.apps/app-service-operator-controller-manager created')
    const { status } = await world.client.get(
      Deployment,
      'app-service-operator-system/app-service-operator-controller-manager',
    )
    expect(status?.availableReplicas).toBe(1)
    await world.client.create(sample())

    const second = world.session()
    await deployObjects(second.session, appService.name, objectsOf(appService))
    expect(new Set(second.out.map((line) => line.split(' ')[1]))).toEqual(new Set(['unchanged']))
  })

  test('removes objects that are no longer needed, and no objects of others', async () => {
    await using world = await cluster()
    const { client } = world
    await deployObjects(world.session().session, appService.name, objectsOf(appService, { networkPolicy: true }))
    const namespace = 'app-service-operator-system'
    await client.create(ServiceAccount({ metadata: { name: 'foreign', namespace } }))
    const next = world.session()
    await deployObjects(next.session, appService.name, objectsOf(appService))
    expect(next.out.filter((line) => line.endsWith('deleted'))).toEqual([
      'networkpolicy.networking.k8s.io/app-service-operator-allow-metrics-traffic deleted',
    ])
    expect(await client.list(NetworkPolicy, { namespace })).toEqual([])
    expect(await client.find(ServiceAccount, { name: 'foreign', namespace })).toBeDefined()
  })

  test('prints the changes of a dry run, and makes none', async () => {
    await using world = await cluster()
    const { client } = world
    const dry = world.session({ 'dry-run': true })
    await deployObjects(dry.session, appService.name, objectsOf(appService))
    expect(dry.out).toContain('# deployment.apps/app-service-operator-controller-manager created (dry run)')
    expect(await client.find(Namespace, 'app-service-operator-system')).toBeUndefined()
    expect(await client.find(CustomResourceDefinition, crd)).toBeUndefined()

    await deployObjects(world.session().session, appService.name, objectsOf(appService))
    const again = world.session({ 'dry-run': true })
    await deployObjects(again.session, appService.name, objectsOf(appService, { image: 'app:v2' }))
    expect(again.out.filter((line) => /^[-+#]/.test(line))).toEqual([
      '# deployment.apps/app-service-operator-controller-manager configured (dry run)',
      '-        image: controller:latest',
      '+        image: app:v2',
    ])
  })

  test('reports why an operator does not become available', async () => {
    await using world = await cluster({ nodes: 0 })
    const clock = new VirtualClock()
    const { session, notes } = world.session({ timeout: '1h' }, clock)
    const deploying = deployObjects(session, appService.name, objectsOf(appService))
    expect(await afterAnHour(clock, deploying)).toContain(
      'The Deployment app-service-operator-system/app-service-operator-controller-manager is not available (0 of 1 replicas are available) after 1h',
    )
    expect(notes).toContain(
      'Waiting for the Deployment app-service-operator-controller-manager: 0 of 1 replicas are available',
    )
  })

  test('prints the Warning events of what does not become available', async () => {
    await using world = await cluster({ nodes: 0 })
    const { client } = world
    const clock = new VirtualClock()
    const { session, notes } = world.session({ timeout: '1h' }, clock)
    const deploying = deployObjects(session, appService.name, objectsOf(appService))
    const namespace = 'app-service-operator-system'
    const warn = async (name: string, message: string): Promise<void> => {
      const involvedObject = { apiVersion: 'v1', kind: 'Pod', name, namespace }
      const metadata = { generateName: 'event-', namespace }
      await client.create({
        apiVersion: 'v1',
        kind: 'Event',
        type: 'Warning',
        reason: 'Failed',
        message,
        involvedObject,
        metadata,
      } as never)
    }
    while (!notes.some((note) => note.startsWith('Waiting for the Deployment'))) await new Promise(setImmediate)
    await warn('app-service-operator-controller-manager-abc', 'no such image')
    await warn('another-pod', 'not ours')
    while (!notes.some((note) => note.startsWith('Warning:'))) await new Promise(setImmediate)
    await afterAnHour(clock, deploying)
    expect(notes.filter((note) => note.startsWith('Warning:'))).toEqual([
      'Warning: pod/app-service-operator-controller-manager-abc: Failed: no such image',
    ])
  })

  test('restores the earlier objects on request if the operator does not become available', async () => {
    await using world = await cluster()
    const { client } = world
    const first = objectsOf(appService, { networkPolicy: true })
    await deployObjects(world.session().session, appService.name, first)
    const key = 'app-service-operator-system/app-service-operator-controller-manager'
    const before = await client.get(Deployment, key)

    const extra = {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'extra', namespace: 'app-service-operator-system' },
    }
    const broken = objectsOf(appService, { image: 'app:v2' }).map((object) => {
      if (object.kind !== 'Deployment') return object
      const copy = structuredClone(object) as unknown as { spec: { template: { spec: { nodeSelector?: object } } } }
      copy.spec.template.spec.nodeSelector = { disk: 'none' }
      return copy as unknown as typeof object
    })
    const clock = new VirtualClock()
    const { session, notes, out } = world.session({ timeout: '1h' }, clock)
    const deploying = deployObjects(session, appService.name, [...broken, extra], { rollback: true })
    expect(await afterAnHour(clock, deploying)).toBe(
      'The deployment failed and was rolled back: the earlier objects are restored',
    )
    expect(notes).toContainEqual(expect.stringContaining('The deployment failed and is rolled back: The Deployment '))
    expect(out.slice(-2)).toEqual([
      'serviceaccount/extra deleted',
      'deployment.apps/app-service-operator-controller-manager restored',
    ])
    const after = await client.get(Deployment, key)
    expect(after.spec).toEqual(before.spec)
    expect(
      await client.find(ServiceAccount, { name: 'extra', namespace: 'app-service-operator-system' }),
    ).toBeUndefined()
    // Objects that are no longer needed are removed after a successful deployment only.
    expect(await client.list(NetworkPolicy, { namespace: 'app-service-operator-system' })).toHaveLength(1)
    const again = world.session()
    await deployObjects(again.session, appService.name, first, { rollback: true })
    expect(new Set(again.out.map((line) => line.split(' ')[1]))).toEqual(new Set(['unchanged']))
  })

  test('removes what a first deployment created if it is rolled back', async () => {
    await using world = await cluster({ nodes: 0 })
    const clock = new VirtualClock()
    const { session } = world.session({ timeout: '1h' }, clock)
    await afterAnHour(clock, deployObjects(session, appService.name, objectsOf(appService), { rollback: true }))
    expect(await world.client.find(ClusterRole, 'app-service-operator-manager-role')).toBeUndefined()
    const definition = await world.client.find(CustomResourceDefinition, crd)
    expect(definition === undefined || definition.metadata.deletionTimestamp !== undefined).toBe(true)
  })

  test('names the fix for kinds that the cluster does not serve', async () => {
    await using world = await cluster({ nodes: 0 })
    const { session } = world.session()
    await expect(deployObjects(session, appService.name, objectsOf(appService, { prometheus: true }))).rejects.toThrow(
      'Install the Prometheus operator, or run kubewright generate --no-prometheus',
    )
  })
})

describe('undeployObjects()', () => {
  test('removes all objects of a deployment, custom resources first', async () => {
    await using world = await cluster()
    const { client } = world
    const operator = describeOperator(appService)
    await deployObjects(world.session().session, appService.name, objectsOf(appService))
    await client.create(sample())
    await expect(undeployObjects(world.session().session, operator)).rejects.toThrow(
      `This deletes 1 object of ${crd}, which cannot be undone: repeat it with --yes to confirm`,
    )
    const sure = world.session({ yes: true })
    expect(await undeployObjects(sure.session, operator)).toBe(true)
    expect(sure.out[0]).toBe('appservice.batch.example.com/app deleted')
    expect(sure.out.at(-1)).toBe('namespace/app-service-operator-system deleted')
    expect(await client.find(CustomResourceDefinition, crd)).toBeUndefined()
    expect(await client.find(Namespace, 'app-service-operator-system')).toBeUndefined()
    expect(await client.list(MutatingWebhookConfiguration)).toEqual([])
    expect(await client.find(ClusterRole, 'app-service-operator-manager-role')).toBeUndefined()

    const nothing = world.session()
    await undeployObjects(nothing.session, operator)
    expect(nothing.notes).toEqual(['Nothing to do: nothing is deployed'])
    const dry = world.session({ 'dry-run': true })
    await undeployObjects(dry.session, operator)
    dry.session.finish()
    expect(dry.notes).toEqual(nothing.notes)
  })

  test('keeps CRDs on request, and namespaces that existed before', async () => {
    await using world = await cluster()
    const { client } = world
    await client.create(Namespace({ metadata: { name: 'shared' } }))
    const objects = objectsOf(appService, { namespace: 'shared' })
    await deployObjects(world.session().session, appService.name, objects)
    await client.create(sample())
    await undeployObjects(world.session().session, describeOperator(appService), { keepDefinitions: true })
    expect(await client.find(AppService, 'app')).toBeDefined()
    expect(await client.find(Namespace, 'shared')).toBeDefined()
    expect(await client.list(Deployment, { namespace: 'shared' })).toEqual([])
  })
})

describe('applyDefinitions() and uninstallDefinitions()', () => {
  const Old = defineResource({ group: 'batch.example.com', version: 'v1', kind: 'Old', spec: s.object({}) })
  const old = defineController(Old, { reconcile: () => undefined })
  const both = defineOperator({ ...appService, controllers: [...appService.controllers, old] })

  test('remove CRDs that the operator no longer has, but ask before removing one with objects', async () => {
    await using world = await cluster({ nodes: 0 })
    const { client } = world
    const { name } = appService
    await applyDefinitions(world.session().session, name, definitionsOf(describeOperator(both)))
    await client.create(Old({ metadata: { name: 'one' }, spec: {} }))
    const rest = definitionsOf(describeOperator(appService))
    const careful = world.session()
    await pruneDefinitions(careful.session, name, rest)
    expect(careful.out).toEqual(['customresourcedefinition.apiextensions.k8s.io/olds.batch.example.com kept'])
    expect(careful.notes).toEqual([
      'olds.batch.example.com is no longer needed but has objects: --yes removes it with them',
    ])
    expect(await client.find(Old, 'one')).toBeDefined()
    const dry = world.session({ 'dry-run': true, output: 'json' })
    await pruneDefinitions(dry.session, name, rest)
    dry.session.finish()
    expect(JSON.parse(dry.out.join(''))).toMatchObject({
      dryRun: true,
      changes: [{ kind: 'CustomResourceDefinition', name: 'olds.batch.example.com', change: 'deleted' }],
    })
    const sure = world.session({ yes: true })
    await pruneDefinitions(sure.session, name, rest)
    expect(sure.out).toEqual(['customresourcedefinition.apiextensions.k8s.io/olds.batch.example.com deleted'])
  })

  test('keep the conversion of a process that is registered by its URL', async () => {
    await using world = await cluster({ nodes: 0 })
    const operator = describeOperator(home)
    const [definition] = definitionsOf(operator)
    await applyDefinitions(world.session().session, home.name, [definition!])
    const service = await world.client.get(CustomResourceDefinition, definition!.metadata.name)
    expect(service.spec.conversion?.webhook?.clientConfig?.service?.name).toBe('home-operator-webhook-service')

    const local = { client: world.client, url: 'https://192.0.2.1:9443', caBundle: '', log: nullLogger }
    const registration = await registerLocally(home, local)
    const { session, notes } = world.session()
    await applyDefinitions(session, home.name, [definition!])
    expect(notes.join('\n')).toContain(
      'homes.ajd.my.domain is converted by a process at https://192.0.2.1:9443/convert',
    )
    const now = await world.client.get(CustomResourceDefinition, definition!.metadata.name)
    expect(now.spec.conversion?.webhook?.clientConfig?.url).toBe('https://192.0.2.1:9443/convert')
    await registration[Symbol.asyncDispose]()
  })

  test('report the finalizers that block a deletion, and the fix', async () => {
    await using world = await cluster({ nodes: 0 })
    const { client } = world
    const operator = describeOperator(appService)
    await applyDefinitions(world.session().session, appService.name, definitionsOf(operator))
    const held = sample()
    await client.create({ ...held, metadata: { ...held.metadata, finalizers: ['example.com/held'] } })
    const clock = new VirtualClock()
    const { session, notes } = world.session({ yes: true, timeout: '1h' }, clock)
    expect(await afterAnHour(clock, uninstallDefinitions(session, operator))).toContain(
      `CustomResourceDefinition ${crd} still exists after 1h0m0s, held by the finalizers customresourcecleanup.apiextensions.k8s.io: the operator must clean up first`,
    )
    expect(notes).toEqual([
      `Waiting for the deletion of CustomResourceDefinition ${crd}, held by the finalizers customresourcecleanup.apiextensions.k8s.io`,
    ])
  })

  test('report names that are not accepted', async () => {
    await using world = await cluster({ nodes: 0 })
    const [definition] = definitionsOf(describeOperator(appService))
    const spec = definition!['spec'] as { names: object }
    const other = { ...definition!, metadata: { name: 'others.batch.example.com' } }
    await applyDefinitions(world.session().session, appService.name, [definition!])
    const names = { ...spec.names, plural: 'others', listKind: 'OtherList' }
    const taken = JSON.parse(JSON.stringify({ ...other, spec: { ...spec, names } })) as typeof other
    const clock = new VirtualClock()
    const { session } = world.session({ timeout: '1h' }, clock)
    expect(await afterAnHour(clock, applyDefinitions(session, appService.name, [taken]))).toContain(
      'others.batch.example.com is not served after 1h0m0s: its names are not accepted: ',
    )
  })
})
