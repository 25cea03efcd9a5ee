import { condition, controllerRef, defineResource, type Infer, isNotFound, type KubeObject } from '@kubewright/api'
import { ConfigMap, Deployment, Job, PersistentVolumeClaim, Pod, Service } from '@kubewright/k8s'
import { can, defineController } from '@kubewright/runtime'
import { s } from '@kubewright/schema'
import { type Planted, plant, rbac } from './things.ts'

/** A kind with conditions and replicas. */
export const App = defineResource({
  group: 'planted.example.com',
  version: 'v1',
  kind: 'App',
  spec: s.object({ replicas: s.int({ minimum: 0, maximum: 3 }).default(1), tier: s.enum('web', 'api').default('web') }),
  status: s
    .object({
      phase: s.string().optional(),
      ready: s.int().optional(),
      conditions: s.conditions('Ready').optional(),
    })
    .optional(),
})
export type App = Infer<typeof App>

/** A kind that selects its nodes. */
const Placed = defineResource({
  group: 'planted.example.com',
  version: 'v1',
  kind: 'Placed',
  spec: s.object({ nodeSelector: s.map(s.string()).optional() }),
})

const samples = [App({ metadata: { name: 'app' }, spec: { replicas: 2, tier: 'web' } })]
const containers = [{ name: 'app', image: 'app:1' }]

const deploymentOf = ({ metadata, spec }: App, labels: Record<string, string>) =>
  Deployment({
    metadata: { name: metadata.name },
    spec: {
      replicas: spec.replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers } },
    },
  })

const podOf = ({ metadata }: App, index: number) =>
  Pod({
    metadata: {
      name: `${metadata.name}-${index}`,
      namespace: `${metadata.namespace}`,
      // Simulated nodes end containers without restarts after a second.
      annotations: { 'kubewright.dev/run-for': '100h' },
      ownerReferences: [controllerRef({ apiVersion: App.apiVersion, kind: App.kind, metadata } as KubeObject)],
    },
    spec: { containers, restartPolicy: 'Never' },
  })

const claimOf = (name: string) =>
  PersistentVolumeClaim({
    metadata: { name },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  })

const isReadyPod = ({ status }: Pod): boolean =>
  (status?.conditions ?? []).some(({ type, status: value }) => type === 'Ready' && value === 'True')

/** Mistakes about workloads, pods and volumes. */
export const plantedWorkloads: Readonly<Record<string, Planted>> = {
  'reports Ready before its pods are': plant(
    'status',
    (isFixed) =>
      defineController(App, {
        owns: [Deployment],
        async reconcile(app, { apply }) {
          const deployment = await apply(deploymentOf(app, { app: app.metadata.name }))
          const ready = (deployment.status?.readyReplicas ?? 0) >= app.spec.replicas
          return { status: { conditions: [condition('Ready', !isFixed || ready, 'Checked')] } }
        },
      }),
    { samples },
  ),
  'waits for pods before it corrects what keeps them pending': plant(
    'end state',
    (isFixed) =>
      defineController(Placed, {
        owns: [Deployment],
        async reconcile({ metadata: { name, namespace = '' }, spec: { nodeSelector } }, { apply, client }) {
          const live = await client.find(Deployment, { name, namespace })
          if (!isFixed && live !== undefined && (live.status?.availableReplicas ?? 0) === 0) return
          const labels = { app: name }
          const template = { metadata: { labels }, spec: { containers, nodeSelector } }
          await apply(Deployment({ metadata: { name }, spec: { selector: { matchLabels: labels }, template } }))
        },
      }),
    { samples: [Placed({ metadata: { name: 'placed' }, spec: {} })] },
  ),
  'leaves volumes behind when it shrinks': plant(
    'end state',
    (isFixed) =>
      defineController(App, {
        owns: [PersistentVolumeClaim],
        rbac: [can(PersistentVolumeClaim, 'delete')],
        async reconcile(
          { metadata: { name, namespace = '' }, spec, status },
          { apply, children, client, mergeStatus },
        ) {
          for (let index = 0; index < spec.replicas; index++) await apply(claimOf(`${name}-${index}`))
          const claims = await children(PersistentVolumeClaim)
          const isShrinking = isFixed || (status?.ready ?? 0) > spec.replicas
          await mergeStatus({ ready: spec.replicas })
          if (!isShrinking || claims.length <= spec.replicas) return
          // An old view of the spec must not delete data.
          const live = await client.find(App, { name, namespace }, { consistency: 'live' })
          for (const { metadata } of live === undefined ? [] : claims) {
            const index = Number(metadata.name.slice(name.length + 1))
            if (index < live!.spec.replicas || metadata.deletionTimestamp !== undefined) continue
            const gone = client.delete(PersistentVolumeClaim, metadata, { preconditions: { uid: metadata.uid } })
            await gone.catch((error: unknown) => {
              if (!isNotFound(error)) throw error
            })
          }
        },
      }),
    { samples },
  ),
  'changes an immutable selector': plant(
    'end state',
    (isFixed) =>
      defineController(App, {
        owns: [Deployment],
        async reconcile(app, { apply }) {
          const { name } = app.metadata
          await apply(deploymentOf(app, isFixed ? { app: name } : { app: name, tier: app.spec.tier }))
        },
      }),
    { samples },
  ),
  'selects the pods of other instances': plant(
    'others',
    (isFixed) =>
      defineController(App, {
        owns: [Deployment, Service],
        async reconcile(app, { apply }) {
          const { name } = app.metadata
          const labels = { app: 'planted', instance: name }
          await apply(deploymentOf(app, labels))
          const selector = isFixed ? labels : { app: 'planted' }
          await apply(Service({ metadata: { name }, spec: { selector, ports: [{ port: 80 }] } }))
        },
      }),
    { samples },
  ),
  'ignores a scale to zero': plant(
    'end state',
    (isFixed) =>
      defineController(App, {
        owns: [Deployment],
        rbac: [can(Deployment, 'get', 'create', 'update')],
        async reconcile(app, { apply, client }) {
          const { name, namespace = '' } = app.metadata
          const found = await client.find(Deployment, { name, namespace })
          if (found === undefined || isFixed) {
            await apply(deploymentOf(app, { app: name }))
          } else if (app.spec.replicas && app.spec.replicas !== found.spec.replicas) {
            await client.update({ ...found, spec: { ...found.spec, replicas: app.spec.replicas } })
          }
        },
      }),
    { samples },
  ),
  'does not replace failed pods': plant(
    'end state',
    (isFixed) =>
      defineController(App, {
        owns: [Pod],
        rbac,
        async reconcile(app, { client }) {
          const { name, namespace = '' } = app.metadata
          const pods = await client.list(Pod, { namespace, controlledBy: app })
          const remove = async (pod: Pod): Promise<void> => {
            const preconditions = { uid: pod.metadata.uid }
            await client
              .delete(Pod, { name: pod.metadata.name, namespace }, { preconditions })
              .catch((error: unknown) => {
                if (!isNotFound(error)) throw error
              })
          }
          for (const pod of pods) {
            if (pod.metadata.deletionTimestamp !== undefined) continue
            const index = Number(pod.metadata.name.slice(name.length + 1))
            const hasFailed = pod.status?.phase === 'Failed' || pod.status?.phase === 'Succeeded'
            if (index >= app.spec.replicas || (isFixed && hasFailed)) await remove(pod)
          }
          for (let i = 0; i < app.spec.replicas; i++) {
            if (pods.some(({ metadata }) => metadata.name === `${name}-${i}`)) continue
            await client.create(podOf(app, i))
          }
          return { status: { ready: pods.filter(isReadyPod).length } }
        },
      }),
    { isRare: true, samples },
  ),
  'must see its Job run': plant(
    'end state',
    (isFixed) =>
      defineController(App, {
        owns: [Job],
        reconcileOwnWrites: true,
        async reconcile(app, { apply }) {
          if (app.status?.phase === 'Done') return undefined
          const job = await apply(
            Job({
              metadata: { name: app.metadata.name },
              spec: { template: { spec: { containers, restartPolicy: 'Never' } } },
            }),
          )
          if ((job.status?.succeeded ?? 0) > 0 && (isFixed || app.status?.phase === 'Running')) {
            return { status: { phase: 'Done' } }
          }
          return (job.status?.active ?? 0) > 0 ? { status: { phase: 'Running' } } : undefined
        },
      }),
    { samples },
  ),
  'gives up when pods do not become ready in time': plant(
    'end state',
    (isFixed) =>
      defineController(App, {
        owns: [Deployment],
        async reconcile(app, { apply, now }) {
          if (!isFixed && app.status?.phase === 'Failed') return undefined
          const deployment = await apply(deploymentOf(app, { app: app.metadata.name }))
          if ((deployment.status?.readyReplicas ?? 0) >= app.spec.replicas) return { status: { phase: 'Ready' } }
          const age = now().getTime() - new Date(`${deployment.metadata.creationTimestamp}`).getTime()
          if (age > 20_000) return { status: { phase: 'Failed' }, ...(isFixed ? { requeueAfter: '1m' } : {}) } as never
          return { status: { phase: 'Starting' }, requeueAfter: '10s' } as never
        },
      }),
    { samples },
  ),
  'gives up when a volume is not bound in time': plant(
    'end state',
    (isFixed) =>
      defineController(App, {
        owns: [PersistentVolumeClaim, ConfigMap],
        async reconcile(app, { apply, now }) {
          if (!isFixed && app.status?.phase === 'Failed') return undefined
          const { name } = app.metadata
          const claim = await apply(
            PersistentVolumeClaim({
              metadata: { name },
              spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
            }),
          )
          if (claim.status?.phase === 'Bound') {
            await apply(ConfigMap({ metadata: { name }, data: { volume: 'bound' } }))
            return { status: { phase: 'Ready' } }
          }
          const age = now().getTime() - new Date(`${claim.metadata.creationTimestamp}`).getTime()
          if (age > 10_000 && !isFixed) return { status: { phase: 'Failed' } }
          return { status: { phase: 'Waiting' }, requeueAfter: '5s' } as never
        },
      }),
    { samples },
  ),
}
