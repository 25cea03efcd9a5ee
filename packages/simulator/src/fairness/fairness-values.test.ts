import { controllerRef, defineResource, isNotFound, type KubeObject } from '@kubewright/api'
import { ConfigMap, Deployment, Namespace, PersistentVolumeClaim, StatefulSet } from '@kubewright/k8s'
import { can, defineController, defineOperator, watch } from '@kubewright/runtime'
import { s } from '@kubewright/schema'
import { describe, expect, test } from 'vitest'
import { type Operation, scheduleId } from '../define/schedule.ts'
import { explore } from '../simulate.ts'
import { Cloud, plantedSamples, Thing } from '../testdata/planted.ts'

const create: Operation = { do: 'create', subject: 0, variant: 0, after: 0 }
const later = (verb: Operation['do'], variant = 0): Operation => ({ do: verb, subject: 0, variant, after: 60_000 })
const replayOf = (...operations: Operation[]): string => scheduleId({ seed: 1, operations, faults: [], replicas: 1 })

const Store = defineResource({
  group: 'planted.example.com',
  version: 'v1',
  kind: 'Store',
  spec: s.object({ replicas: s.int({ minimum: 1, maximum: 2 }), storage: s.quantity() }),
})
const stores = [Store({ metadata: { name: 'store' }, spec: { replicas: 1, storage: '1Gi' } })]

const claim = (storage: string) => ({ accessModes: ['ReadWriteOnce' as const], resources: { requests: { storage } } })

// Each of these operators is correct, and was reported once.
describe('a fair simulation', { timeout: 120_000 }, () => {
  test('lets no pod of a neighbor keep a claim of the operator', async () => {
    const controller = defineController(Thing, {
      owns: [Deployment, PersistentVolumeClaim],
      async reconcile({ metadata: { name } }, { apply }) {
        const labels = { app: name }
        await apply(PersistentVolumeClaim({ metadata: { name }, spec: claim('1Gi') }))
        const volumes = [{ name: 'data', persistentVolumeClaim: { claimName: name } }]
        const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web:1' }], volumes } }
        await apply(Deployment({ metadata: { name, labels }, spec: { selector: { matchLabels: labels }, template } }))
      },
    })
    const operator = defineOperator({ name: 'planted', controllers: [controller] })
    const replay = replayOf(create, later('neighbor'), later('delete'))
    const report = await explore(operator, { samples: plantedSamples, replay })
    expect(report.operations).toMatchObject({ neighbor: 1 })
    expect(report.failure?.story).toBeUndefined()
  })

  test('accepts that a deleted namespace takes the objects of all owners with it', async () => {
    const controller = defineController(Namespace, {
      owns: [ConfigMap],
      async reconcile({ metadata: { name: namespace, labels }, status }, { apply }) {
        if (labels?.['team'] === undefined || status?.phase === 'Terminating') return
        await apply(ConfigMap({ metadata: { name: 'team', namespace }, data: labels }))
      },
    })
    const operator = defineOperator({ name: 'planted', controllers: [controller] })
    const samples = [Namespace({ metadata: { name: 'blue', labels: { team: 'blue' } } })]
    const report = await explore(operator, { samples, replay: replayOf(create, later('neighbor'), later('delete')) })
    expect(report.operations).toMatchObject({ neighbor: 1 })
    expect(report.failure?.story).toBeUndefined()
  })

  test('does not compare identities that the outside counts', async () => {
    const operator = ({ world }: { readonly world: Cloud }) =>
      defineOperator({
        name: 'planted',
        controllers: [
          defineController(Thing, {
            async reconcile({ metadata: { uid }, status }) {
              return { status: { phase: status?.phase ?? (await world.create(uid)) } }
            },
            async cleanup({ status }) {
              if (status?.phase !== undefined) await world.remove(status.phase)
            },
          }),
        ],
      })
    const replay = replayOf(create, later('delete'), later('create'))
    const report = await explore(operator, { samples: plantedSamples, world: () => new Cloud(), replay })
    expect(report.failure?.story).toBeUndefined()
  })

  test('does not compare a form that needs another namespace', async () => {
    const Copies = defineResource({
      group: 'planted.example.com',
      version: 'v1',
      kind: 'Copies',
      scope: 'Cluster',
      spec: s.object({ namespaces: s.array(s.string()) }),
      status: s.object({ count: s.int() }).optional(),
    })
    const controller = defineController(Copies, {
      owns: [ConfigMap],
      prune: true,
      async reconcile({ metadata: { name }, spec: { namespaces } }, { apply }) {
        for (const namespace of namespaces) await apply(ConfigMap({ metadata: { name, namespace } }))
        return { status: { count: namespaces.length } }
      },
    })
    const operator = defineOperator({ name: 'planted', controllers: [controller] })
    const samples = [Copies({ metadata: { name: 'copies' }, spec: { namespaces: ['default', 'other'] } })]
    const report = await explore(operator, { samples, faults: [], schedules: 12 })
    expect(report.operations['change']).toBeGreaterThan(1)
    expect(report.failure?.story).toBeUndefined()
  })

  test('does not compare the status after a roll-out to pods that stay pending', async () => {
    const controller = defineController(Thing, {
      owns: [Deployment],
      async reconcile({ metadata: { name }, spec }, { apply }) {
        const labels = { app: name }
        const pod = { containers: [{ name: 'web', image: 'web:1' }] }
        // No node has the label.
        const nodeSelector = spec.extra === undefined ? {} : { disk: 'ssd' }
        const template = { metadata: { labels }, spec: { ...pod, nodeSelector } }
        const { status } = await apply(
          Deployment({ metadata: { name }, spec: { selector: { matchLabels: labels }, template } }),
        )
        return { status: { readyReplicas: status?.readyReplicas ?? 0 } }
      },
    })
    const operator = defineOperator({ name: 'planted', controllers: [controller] })
    for (let variant = 1; variant <= 6; variant++) {
      const replay = replayOf(create, later('change', variant), later('change'))
      const report = await explore(operator, { samples: plantedSamples, replay })
      expect(report.operations).toMatchObject({ change: 2 })
      expect(report.failure?.story).toBeUndefined()
    }
  })

  test('accepts that the volumes of a StatefulSet do not grow', async () => {
    for (const isApplied of [true, false]) {
      const controller = defineController(Store, {
        owns: [StatefulSet],
        rbac: [can(StatefulSet, 'get', 'create', 'update')],
        async reconcile(store, { apply, client }) {
          const { name, namespace = '' } = store.metadata
          const { replicas, storage } = store.spec
          const labels = { app: name }
          const template = { metadata: { labels }, spec: { containers: [{ name: 'app', image: 'app:1' }] } }
          const volumeClaimTemplates = [{ metadata: { name: 'data' }, spec: claim(String(storage)) }]
          const selector = { matchLabels: labels }
          const spec = { replicas, serviceName: name, selector, template, volumeClaimTemplates }
          if (isApplied) {
            await apply(StatefulSet({ metadata: { name }, spec }))
            return
          }
          const found = await client.find(StatefulSet, { name, namespace }, { consistency: 'live' })
          const metadata = { name, namespace, ownerReferences: [controllerRef(store as KubeObject)] }
          if (found === undefined) await client.create(StatefulSet({ metadata, spec }))
          else if (found.spec?.replicas !== replicas) {
            await client.update({ ...found, spec: { ...found.spec!, replicas } })
          }
        },
      })
      const operator = defineOperator({ name: 'planted', controllers: [controller] })
      const report = await explore(operator, { samples: stores, replay: replayOf(create, later('change', 2)) })
      expect(report.failure?.story).toBeUndefined()
      expect(report.operations).toMatchObject({ change: 1 })
    }
  })

  test('accepts a volume that the operator had no time to delete before its owner, if it keeps volumes then', async () => {
    const controller = defineController(Store, {
      owns: [StatefulSet],
      rbac: [can(PersistentVolumeClaim, 'list', 'watch', 'delete')],
      watches: [watch(PersistentVolumeClaim, ({ metadata: { labels } }) => [labels?.['app'] ?? ''])],
      async reconcile({ metadata: { name, namespace = '' }, spec: { replicas } }, { apply, client }) {
        const labels = { app: name }
        const template = { metadata: { labels }, spec: { containers: [{ name: 'app', image: 'app:1' }] } }
        const volumeClaimTemplates = [{ metadata: { name: 'data', labels }, spec: claim('1Gi') }]
        const selector = { matchLabels: labels }
        const spec = { replicas, serviceName: name, selector, template, volumeClaimTemplates }
        const { status } = await apply(StatefulSet({ metadata: { name }, spec }))
        for (const { metadata } of await client.list(PersistentVolumeClaim, { namespace, labels })) {
          const ordinal = Number(metadata.name.replace(/^.*-/, ''))
          if (ordinal < replicas || ordinal < (status?.replicas ?? 0)) continue
          await client.delete(PersistentVolumeClaim, metadata).catch((error: unknown) => {
            if (!isNotFound(error)) throw error
          })
        }
      },
    })
    const operator = defineOperator({ name: 'planted', controllers: [controller] })
    const samples = [Store({ metadata: { name: 'store' }, spec: { replicas: 2, storage: '1Gi' } })]
    const soon: Operation = { ...later('delete'), after: 6500 }
    // About the requests in which the operator deletes the claim of the second instance.
    for (let at = 2; at <= 5; at++) {
      const operations = [create, later('change', 1), soon]
      const faults = [{ kind: 'forbidden', at, for: 10_000 }] as const
      const replay = scheduleId({ seed: 1, operations, faults, replicas: 1 })
      const report = await explore(operator, { samples, replay })
      expect(report.failure?.story).toBeUndefined()
    }
  })
})
