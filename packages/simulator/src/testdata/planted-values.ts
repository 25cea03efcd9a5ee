import { controllerRef, defineResource, type Infer, isNotFound, type KubeObject } from '@kubewright/api'
import { ConfigMap, Deployment, Namespace, PersistentVolumeClaim, Pod, Service } from '@kubewright/k8s'
import { can, defineController, defineOperator, defineWebhook, generationChanged, watch } from '@kubewright/runtime'
import { s } from '@kubewright/schema'
import { configOf, type Planted, plant } from './things.ts'

const App = defineResource({
  group: 'planted.example.com',
  version: 'v1',
  kind: 'App',
  spec: s.object({
    replicas: s.int({ minimum: 0, maximum: 4 }).optional(),
    level: s.enum('info', 'debug').default('info'),
    serviceName: s.string(),
    storageGi: s.int({ minimum: 1, maximum: 9 }).default(1),
  }),
})
type App = Infer<typeof App>

/** An object that an App follows. */
const Route = defineResource({
  group: 'planted.example.com',
  version: 'v1',
  kind: 'Route',
  spec: s.object({ app: s.string(), weight: s.int({ minimum: 0, maximum: 9 }) }),
})

const samples = [App({ metadata: { name: 'app' }, spec: { replicas: 2, serviceName: 'front' } })]

const labelsOf = ({ metadata: { name } }: App) => ({ app: 'planted', instance: name })

/** A Deployment whose pods take their environment from a ConfigMap of the same name. */
const deploymentOf = (app: App, replicas = app.spec.replicas, annotations: Record<string, string> = {}) => {
  const { name } = app.metadata
  const labels = labelsOf(app)
  const envFrom = [{ configMapRef: { name, optional: true } }]
  const template = {
    metadata: { labels, annotations },
    spec: { containers: [{ name: 'app', image: 'app:1', envFrom }] },
  }
  return Deployment({ metadata: { name }, spec: { replicas, selector: { matchLabels: labels }, template } })
}

const ignoreMissing = (error: unknown): void => {
  if (!isNotFound(error)) throw error
}

/** Mistakes that show when a user gives another value, or when others work on objects of the same kinds. */
export const plantedValues: Readonly<Record<string, Planted>> = {
  'creates a volume and never enlarges it': plant(
    'end state',
    (isFixed) =>
      defineController(App, {
        owns: [PersistentVolumeClaim],
        rbac: [can(PersistentVolumeClaim, 'get', 'create', 'patch')],
        async reconcile(app, { client }) {
          const { name, namespace = '' } = app.metadata
          const resources = { requests: { storage: `${app.spec.storageGi}Gi` } }
          const found = await client.find(PersistentVolumeClaim, { name, namespace }, { consistency: 'live' })
          if (found === undefined) {
            const metadata = { name, namespace, ownerReferences: [controllerRef(app as KubeObject)] }
            await client.create(
              PersistentVolumeClaim({ metadata, spec: { accessModes: ['ReadWriteOnce'], resources } }),
            )
          } else if (isFixed) await client.patch(PersistentVolumeClaim, { name, namespace }, { spec: { resources } })
        },
      }),
    { samples },
  ),
  'leaves the Service with a former name behind': plant(
    'end state',
    (isFixed) =>
      defineController(App, {
        owns: [Service],
        prune: isFixed,
        async reconcile(app, { apply }) {
          const spec = { selector: labelsOf(app), ports: [{ port: 80 }] }
          await apply(Service({ metadata: { name: app.spec.serviceName }, spec }))
        },
      }),
    { samples },
  ),
  'replaces a given 0 by the default': plant(
    'admission',
    (isFixed) =>
      defineOperator({
        name: 'planted',
        controllers: [
          defineController(App, {
            owns: [Deployment],
            async reconcile(app, { apply }) {
              await apply(deploymentOf(app))
            },
          }),
        ],
        webhooks: [
          defineWebhook(App, {
            default({ spec }) {
              if (isFixed ? spec.replicas === undefined : !spec.replicas) spec.replicas = 2
            },
          }),
        ],
      }),
    { samples },
  ),
  'never scales to 0': plant(
    'end state',
    (isFixed) =>
      defineController(App, {
        owns: [Deployment],
        async reconcile(app, { apply }) {
          await apply(deploymentOf(app, isFixed ? (app.spec.replicas ?? 1) : app.spec.replicas || 1))
        },
      }),
    { samples },
  ),
  'does not restart its pods when their environment changes': plant(
    'end state',
    (isFixed) =>
      defineController(App, {
        owns: [ConfigMap, Deployment],
        async reconcile(app, { apply }) {
          const { name } = app.metadata
          await apply(ConfigMap({ metadata: { name }, data: { level: app.spec.level } }))
          await apply(deploymentOf(app, 1, isFixed ? { level: app.spec.level } : {}))
        },
      }),
    { samples },
  ),
  'restarts its pods only in the reconcile that changes their environment': plant(
    'end state',
    (isFixed) =>
      defineController(App, {
        owns: [ConfigMap, Deployment],
        rbac: [can(ConfigMap, 'get', 'create', 'update')],
        async reconcile(app, { apply, children, client, now }) {
          const { name, namespace = '' } = app.metadata
          const { level } = app.spec
          const metadata = { name, namespace, ownerReferences: [controllerRef(app as KubeObject)] }
          const found = await client.find(ConfigMap, { name, namespace }, { consistency: 'live' })
          const isChanged = found !== undefined && found.data?.['level'] !== level
          if (found === undefined) await client.create(ConfigMap({ metadata, data: { level } }))
          else if (isChanged) await client.update({ ...found, data: { level } })
          const [deployment] = await children(Deployment)
          const restart = 'planted.example.com/restarted-at'
          const last = deployment?.spec.template.metadata?.annotations?.[restart] ?? ''
          const restarts = { [restart]: isChanged ? now().toISOString() : last }
          await apply(deploymentOf(app, 1, isFixed ? { level } : restarts))
        },
      }),
    { samples, faults: ['crash', 'error'] },
  ),
  'restarts the pods of all owners': plant(
    'others',
    (isFixed) =>
      defineController(App, {
        owns: [Deployment, ConfigMap],
        rbac: [can(Pod, 'list', 'delete')],
        async reconcile(app, { apply, children, client }) {
          const { name, namespace = '' } = app.metadata
          await apply(deploymentOf(app, 1))
          const [known] = await children(ConfigMap)
          if (known !== undefined && known.data?.['level'] !== app.spec.level) {
            const labels = isFixed ? labelsOf(app) : { app: 'planted' }
            for (const { metadata } of await client.list(Pod, { namespace, labels })) {
              await client.delete(Pod, metadata).catch(ignoreMissing)
            }
          }
          await apply(ConfigMap({ metadata: { name: `${name}-level` }, data: { level: app.spec.level } }))
        },
      }),
    { samples },
  ),
  'keeps what a label of a namespace has caused': plant(
    'end state',
    (isFixed) =>
      defineController(Namespace, {
        rbac: [can(ConfigMap, 'list', 'watch', 'get', 'create', 'patch', 'delete')],
        watches: [watch(ConfigMap, ({ metadata: { namespace = '' } }) => [{ name: namespace }])],
        async reconcile({ metadata: { name: namespace, labels }, status }, { client }) {
          if (status?.phase === 'Terminating') return
          const key = { name: 'team', namespace }
          const team = labels?.['team']
          if (team !== undefined) await client.apply(ConfigMap({ metadata: key, data: { team } }), { force: true })
          else if (isFixed && (await client.find(ConfigMap, key)) !== undefined) {
            await client.delete(ConfigMap, key).catch(ignoreMissing)
          }
        },
      }),
    { samples: [Namespace({ metadata: { name: 'blue', labels: { team: 'blue' } } })] },
  ),
  'overlooks changes of an object that it follows': plant(
    'end state',
    (isFixed) =>
      defineController(App, {
        owns: [ConfigMap],
        rbac: [can(Route, 'list')],
        watches: [
          watch(Route, ({ spec: { app, weight } }) => (isFixed || weight > 0 ? [app] : []), {
            // The mapping is called for the object before a change too.
            predicates: isFixed ? [] : [{ update: (_, { spec }) => spec.weight > 0 }],
          }),
        ],
        async reconcile(app, { apply, client }) {
          const { name, namespace = '' } = app.metadata
          const routes = (await client.list(Route, { namespace })).filter(({ spec }) => spec.app === name)
          const weights = routes.map(({ metadata, spec }) => `${metadata.name}=${spec.weight}`)
          await apply(configOf(app as never, { weights: weights.sort().join() }))
        },
      }),
    {
      samples: [
        ...samples,
        Route({ metadata: { name: 'one', namespace: 'default' }, spec: { app: 'app', weight: 3 } }),
      ],
    },
  ),
  'overlooks changes of its labels': plant(
    'end state',
    (isFixed) =>
      defineController(App, {
        owns: [ConfigMap],
        predicates: isFixed ? [] : [generationChanged],
        async reconcile({ metadata: { name, labels } }, { apply }) {
          await apply(ConfigMap({ metadata: { name }, data: { team: labels?.['team'] ?? 'none' } }))
        },
      }),
    {
      samples: [App({ metadata: { name: 'app', labels: { team: 'blue' } }, spec: { serviceName: 'front' } })],
    },
  ),
}
