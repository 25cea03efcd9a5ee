import { controllerRef, defineResource, hasFinalizer, type Infer, isNotFound, type KubeObject } from '@kubewright/api'
import type { Client } from '@kubewright/client'
import { ConfigMap, Secret } from '@kubewright/k8s'
import {
  defineController,
  defineKeyController,
  defineOperator,
  defineWebhook,
  invalid,
  kindSource,
  type Runnable,
  watch,
} from '@kubewright/runtime'
import { s } from '@kubewright/schema'
import { type Cloud, configOf, dataOf, ownedConfig, type Planted, plant, rbac, Seen, Thing } from './things.ts'

/** A kind without namespace. */
export const Zone = defineResource({
  group: 'planted.example.com',
  version: 'v1',
  kind: 'Zone',
  scope: 'Cluster',
  spec: s.object({ region: s.enum('north', 'south').default('north'), size: s.int({ minimum: 0 }).default(1) }),
  status: s.object({ phase: s.string().optional() }).optional(),
})
export type Zone = Infer<typeof Zone>

const every = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'] as const
const thingRules = [
  ...rbac,
  { apiGroups: ['planted.example.com'], resources: ['things', 'things/status', 'seens', 'zones'], verbs: [...every] },
]

const ignoreMissing = (error: unknown): void => {
  if (!isNotFound(error)) throw error
}

const bucketsExist = {
  name: 'buckets belong to things',
  when: 'settled',
  check(objects: readonly KubeObject[], { buckets }: Cloud): string | undefined {
    const names = new Set(objects.filter(({ kind }) => kind === 'Thing').map(({ metadata }) => metadata.name))
    const lost = [...buckets].filter(([, owner]) => !names.has(owner.replace(/.*\//, '')))
    if (lost.length > 0) return `the bucket ${lost[0]?.[0]} has no thing`
    return buckets.size < names.size ? `there are ${buckets.size} buckets for ${names.size} things` : undefined
  },
} as const

/** Mistakes in operators of other styles: key controllers, plain clients, shared children, timers, kinds without namespace. */
export const plantedStyles: Readonly<Record<string, Planted>> = {
  'validates only new objects': plant('admission', (isFixed) =>
    defineOperator({
      name: 'planted',
      controllers: [
        defineController(Thing, {
          owns: [ConfigMap],
          async reconcile(thing, { apply }) {
            await apply(configOf(thing, dataOf(thing)))
          },
        }),
      ],
      webhooks: [
        defineWebhook(Thing, {
          validate: ({ spec }, { old }) => [
            (isFixed || old === undefined) && spec.size > 3 && invalid('spec.size', 'must be at most 3'),
          ],
        }),
      ],
    }),
  ),
  'misses a deletion while it is down': plant(
    'buckets belong to things',
    (isFixed, world) =>
      isFixed
        ? defineController(Thing, {
            async reconcile({ metadata }) {
              await world.ensure(`${metadata.namespace}/${metadata.name}`, metadata.name)
            },
            async cleanup({ metadata }) {
              await world.remove(`${metadata.namespace}/${metadata.name}`)
            },
          })
        : (defineKeyController({
            name: 'buckets',
            kind: Thing,
            sources: [kindSource(Thing)],
            async reconcile(key, { client }) {
              // The key of a deleted object arrives only if the process sees the deletion.
              const thing = await client.find(Thing, key)
              if (thing === undefined) await world.remove(key)
              else await world.ensure(key, thing.metadata.name)
            },
          }) as never),
    { invariants: [bucketsExist] },
  ),
  'shares a child between two controllers': plant(
    'hot loop',
    (isFixed) => {
      const write = async (client: Client, namespace: string, name: string, text: string): Promise<void> => {
        const found = await client.find(ConfigMap, { name, namespace })
        if (found === undefined) await client.create(ConfigMap({ metadata: { name, namespace }, data: { text } }))
        else if (found.data?.['text'] !== text) await client.update({ ...found, data: { text } })
      }
      const toAll = ({ metadata }: KubeObject) => [{ name: metadata.name.replace(/-seen$/, '') }]
      return [
        defineController(Thing, {
          watches: [watch(ConfigMap, toAll)],
          rbac,
          async reconcile({ metadata: { name, namespace = '' } }, { client }) {
            await write(client, namespace, name, 'thing')
          },
          async cleanup({ metadata: { name, namespace = '' } }, { client }) {
            await client.delete(ConfigMap, { name, namespace }).catch(ignoreMissing)
          },
        }),
        defineController(Seen, {
          watches: [watch(ConfigMap, toAll)],
          rbac,
          async reconcile({ metadata: { name, namespace = '' } }, { client }) {
            await write(client, namespace, isFixed ? `${name}-seen` : name, 'seen')
          },
          async cleanup({ metadata: { name, namespace = '' } }, { client }) {
            await client.delete(ConfigMap, { name: isFixed ? `${name}-seen` : name, namespace }).catch(ignoreMissing)
          },
        }),
      ]
    },
    {
      isRare: true,
      maxRequests: 1000,
      samples: [
        Thing({ metadata: { name: 'same' }, spec: { size: 1 } }),
        Seen({ metadata: { name: 'same' }, spec: { size: 1 } }),
      ],
    },
  ),
  'gives the children of all zones one name': plant(
    'end state',
    (isFixed) =>
      defineController(Zone, {
        rbac: thingRules,
        async reconcile({ metadata, spec }, { client }) {
          const name = isFixed ? `${metadata.name}-${spec.region}` : spec.region
          const other = spec.region === 'north' ? 'south' : 'north'
          const draft = ConfigMap({
            metadata: { name, namespace: 'default', labels: { zone: metadata.name } },
            data: { size: String(spec.size) },
          })
          await client.apply(draft, { fieldManager: 'planted', force: true })
          const former = isFixed ? `${metadata.name}-${other}` : other
          await client.delete(ConfigMap, { name: former, namespace: 'default' }).catch(ignoreMissing)
          return { status: { phase: 'Ready' } }
        },
        async cleanup({ metadata }, { client }) {
          for (const region of ['north', 'south']) {
            const name = isFixed ? `${metadata.name}-${region}` : region
            await client.delete(ConfigMap, { name, namespace: 'default' }).catch(ignoreMissing)
          }
        },
      }),
    { isRare: true, samples: [Zone({ metadata: { name: 'zone' }, spec: { region: 'north', size: 1 } })] },
  ),
  'forgets a deletion that it planned with a timer': plant(
    'end state',
    (isFixed) =>
      defineController(Thing, {
        owns: [ConfigMap],
        rbac,
        async reconcile(thing, { client }) {
          const { name, namespace = '' } = thing.metadata
          const { color } = thing.spec
          const draft = ownedConfig(thing, dataOf(thing), `${name}-${color}`)
          await client.apply(draft, { fieldManager: 'planted', force: true })
          const former = `${name}-${color === 'red' ? 'green' : 'red'}`
          const remove = (): Promise<void> =>
            client.delete(ConfigMap, { name: former, namespace }).then(() => undefined, ignoreMissing)
          if (isFixed) await remove()
          else if ((await client.find(ConfigMap, { name: former, namespace })) && thing.status?.phase !== color) {
            // Clients may use the former child for a while.
            setTimeout(() => void remove().catch(() => undefined), 20_000)
          }
          return { status: { phase: color } }
        },
      }),
    { isRare: true },
  ),
  'creates its children only together': plant(
    'end state',
    (isFixed) =>
      defineController(Thing, {
        owns: [ConfigMap, Secret],
        rbac,
        async reconcile(thing, { client }) {
          const { name, namespace = '' } = thing.metadata
          const key = { name, namespace }
          const ownerReferences = [controllerRef(thing as KubeObject)]
          const secret = await client.find(Secret, key, { consistency: 'live' })
          if (secret === undefined) {
            await client.create(Secret({ metadata: { ...key, ownerReferences }, data: { user: 'YWRtaW4=' } }))
          }
          if (!isFixed && secret !== undefined) return
          await client.apply(ownedConfig(thing, { user: 'admin' }), { fieldManager: 'planted', force: true })
        },
      }),
    { isRare: true },
  ),
  'keeps its own finalizer when the child is gone': plant(
    'deletion',
    (isFixed) => {
      const finalizer = 'planted.example.com/child'
      return defineKeyController({
        name: 'things',
        kind: Thing,
        sources: [kindSource(Thing)],
        rbac: thingRules,
        async reconcile(key, { client }) {
          const thing = await client.find(Thing, key)
          if (thing === undefined) return
          const { name, namespace = '', uid, deletionTimestamp, finalizers = [] } = thing.metadata
          if (deletionTimestamp === undefined) {
            if (!hasFinalizer(thing as KubeObject, finalizer)) {
              const metadata = { ...thing.metadata, finalizers: [...finalizers, finalizer] }
              await client.update({ ...thing, metadata })
            }
            // A new process may see an object that is gone, and nothing else would delete a child without owner.
            const live = await client.find(Thing, key, { consistency: 'live' })
            if (live?.metadata.uid !== uid || live?.metadata.deletionTimestamp !== undefined) return
            const draft = ConfigMap({ metadata: { name, namespace }, data: dataOf(thing) })
            await client.apply(draft, { fieldManager: 'planted', force: true })
            return
          }
          if (!hasFinalizer(thing as KubeObject, finalizer)) return
          const child = await client.find(ConfigMap, { name, namespace }, { consistency: 'live' })
          if (child === undefined && !isFixed) return
          if (child !== undefined) await client.delete(ConfigMap, { name, namespace }).catch(ignoreMissing)
          const metadata = { ...thing.metadata, finalizers: finalizers.filter((one) => one !== finalizer) }
          await client.update({ ...thing, metadata })
        },
      }) as never
    },
    { isRare: true },
  ),
  'sweeps Secrets whose owners it does not see': plant(
    'data',
    (isFixed) =>
      defineController(Thing, {
        owns: [Secret],
        rbac: thingRules,
        async reconcile(thing, { client }) {
          const { name, namespace = '' } = thing.metadata
          const labels = { sweep: 'planted' }
          const password = Buffer.from(String(Math.random())).toString('base64')
          const ownerReferences = [controllerRef(thing as KubeObject)]
          if ((await client.find(Secret, { name, namespace })) === undefined) {
            await client
              .create(Secret({ metadata: { name, namespace, labels, ownerReferences }, data: { password } }))
              .catch((error: unknown) => {
                if ((error as { status?: { code?: number } }).status?.code !== 409) throw error
              })
          }
          for (const { metadata } of await client.list(Secret, { namespace, labels })) {
            if (metadata.ownerReferences?.[0]?.kind !== 'Thing') continue
            const key = { name: metadata.name, namespace }
            const owner = await client.find(Thing, key, isFixed ? { consistency: 'live' } : {})
            if (owner !== undefined) continue
            const preconditions = { uid: metadata.uid }
            await client.delete(Secret, key, { preconditions }).catch(ignoreMissing)
          }
        },
      }),
    { isRare: true },
  ),
  'writes a heartbeat into its child': plant(
    'quiet',
    (isFixed) => {
      const beat: Runnable = {
        name: 'heartbeat',
        async run({ cluster, drain }) {
          while (!drain.aborted) {
            await new Promise((resolve) => setTimeout(resolve, isFixed ? 300_000 : 5000))
            if (drain.aborted) return
            for (const { metadata } of await cluster.client.list(ConfigMap, { labels: { beat: 'yes' } })) {
              if (!metadata.ownerReferences?.some(({ kind }) => kind === Thing.kind)) continue
              const key = { name: metadata.name, namespace: `${metadata.namespace}` }
              const annotations = { beat: new Date().toISOString() }
              await cluster.client.patch(ConfigMap, key, { metadata: { annotations } }).catch(() => undefined)
            }
          }
        },
      }
      return defineOperator({
        name: 'planted',
        controllers: [
          defineController(Thing, {
            owns: [ConfigMap],
            rbac,
            async reconcile(thing, { apply }) {
              const { name } = thing.metadata
              await apply(ConfigMap({ metadata: { name, labels: { beat: 'yes' } }, data: dataOf(thing) }))
            },
          }),
        ],
        runnables: [beat],
      })
    },
    { isRare: true, ignore: ['metadata.annotations.beat', 'metadata.annotations'] },
  ),
  'ignores the failure of a call that it does not await': plant(
    'errors',
    (isFixed, world) =>
      defineController(Thing, {
        async reconcile({ metadata }) {
          const key = `${metadata.namespace}/${metadata.name}`
          const done = world.ensure(key, metadata.name)
          if (isFixed) await done
          else setTimeout(() => void done.then(() => undefined), 50)
        },
        async cleanup({ metadata }) {
          await world.remove(`${metadata.namespace}/${metadata.name}`)
        },
      }),
    { isRare: true },
  ),
  'lacks the permission to clean up': plant('rights', (isFixed) =>
    defineController(Thing, {
      owns: [ConfigMap],
      rbac: isFixed ? rbac : [],
      async reconcile(thing, { apply, client }) {
        const { name, namespace = '' } = thing.metadata
        if (thing.spec.extra !== undefined) {
          await apply(configOf(thing, { text: thing.spec.extra.text }, `${name}-extra`))
          return
        }
        const key = { name: `${name}-extra`, namespace }
        if ((await client.find(ConfigMap, key)) === undefined) return
        await client.delete(ConfigMap, key).catch(ignoreMissing)
      },
    }),
  ),
  'charges again after a restart': plant(
    'one bucket per size',
    (isFixed, world) => {
      const charged = new Map<string, number>()
      return defineController(Thing, {
        async reconcile({ metadata, spec }) {
          const { uid } = metadata
          if (isFixed) await world.ensure(`${uid} ${spec.size}`, `${uid} ${spec.size}`)
          else if (charged.get(uid) !== spec.size) {
            await world.create(`${uid} ${spec.size}`)
            charged.set(uid, spec.size)
          }
        },
      })
    },
    {
      without: ['end state'],
      invariants: [
        {
          name: 'one bucket per size',
          when: 'settled',
          check(_, { buckets }) {
            const owners = [...buckets.values()]
            const again = owners.find((owner, index) => owners.indexOf(owner) !== index)
            return again === undefined ? undefined : `two buckets for ${again}`
          },
        },
      ],
    },
  ),
}
