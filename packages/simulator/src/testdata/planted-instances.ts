import { controllerRef, defineResource, generateName, isNotFound, type KubeObject } from '@kubewright/api'
import { ConfigMap } from '@kubewright/k8s'
import { defineController, defineConversion, defineOperator, defineWebhook, spoke } from '@kubewright/runtime'
import { s } from '@kubewright/schema'
import { configOf, dataOf, type Planted, plant, rbac, Thing } from './things.ts'

const versionedStatus = s.object({ size: s.int().optional() }).optional()

/** A kind with two versions. */
export const Versioned = defineResource({
  group: 'planted.example.com',
  kind: 'Versioned',
  versions: {
    v2: {
      storage: true,
      spec: s.object({ size: s.int().default(1), title: s.string().optional(), note: s.string().optional() }),
      status: versionedStatus,
    },
    v1: { spec: s.object({ size: s.int().default(1), label: s.string().optional() }), status: versionedStatus },
  },
})

/** A kind with a list and a map. */
export const Group = defineResource({
  group: 'planted.example.com',
  version: 'v1',
  kind: 'Group',
  spec: s.object({
    members: s.array(s.object({ name: s.string({ minLength: 1, maxLength: 20 }) })).default([]),
    settings: s.map(s.string()).default({}),
  }),
})

/** Mistakes about several objects, names, selectors, lists and versions. */
export const plantedInstances: Readonly<Record<string, Planted>> = {
  'keeps the child with the former name': plant('end state', (isFixed) =>
    defineController(Thing, {
      owns: [ConfigMap],
      prune: isFixed,
      async reconcile(thing, { apply }) {
        await apply(configOf(thing, dataOf(thing), `${thing.metadata.name}-${thing.spec.color}`))
      },
    }),
  ),
  'creates a child with a generated name again after a crash': plant(
    'end state',
    (isFixed) =>
      defineController(Thing, {
        owns: [ConfigMap],
        rbac,
        async reconcile(thing, { client, mergeStatus }) {
          const { name, namespace = '' } = thing.metadata
          const ownerReferences = [controllerRef(thing as KubeObject)]
          const known = isFixed
            ? await client.list(ConfigMap, { namespace, controlledBy: thing, consistency: 'live' })
            : [thing.status?.phase].filter((one) => one !== undefined)
          if (known.length > 0) return
          const made = await client.create(
            ConfigMap({ metadata: generateName(`${name}-`, { namespace, ownerReferences }), data: dataOf(thing) }),
          )
          await mergeStatus({ phase: made.metadata.name })
        },
      }),
    { faults: ['crash'], ignore: ['status.phase'] },
  ),
  'deletes children by a label that others use': plant('others', (isFixed) =>
    defineController(Thing, {
      owns: [ConfigMap],
      rbac,
      async reconcile(thing, { apply }) {
        const { name } = thing.metadata
        await apply(ConfigMap({ metadata: { name, labels: { app: 'planted' } }, data: dataOf(thing) }))
      },
      async cleanup(thing, { client }) {
        const { namespace = '' } = thing.metadata
        if (isFixed) return
        await client.deleteCollection(ConfigMap, { namespace, labels: { app: 'planted' } })
      },
    }),
  ),
  'prunes objects that it does not own': plant(
    'others',
    (isFixed) =>
      defineController(Thing, {
        owns: [ConfigMap],
        rbac,
        async reconcile(thing, { apply, client }) {
          const { name, namespace = '', uid } = thing.metadata
          for (let i = 0; i < thing.spec.size; i++) {
            const metadata = { name: `${name}-${i}`, labels: { part: 'planted' } }
            await apply(ConfigMap({ metadata, data: { part: String(i) } }))
          }
          for (const { metadata } of await client.list(ConfigMap, { namespace, labels: { part: 'planted' } })) {
            const index = Number(metadata.name.replace(/.*-/, ''))
            if (index < thing.spec.size) continue
            if (isFixed && metadata.ownerReferences?.[0]?.uid !== uid) continue
            await client.delete(ConfigMap, { name: metadata.name, namespace }).catch((error: unknown) => {
              if (!isNotFound(error)) throw error
            })
          }
        },
      }),
    { isRare: true },
  ),
  'gives all children the same name': plant('end state', (isFixed) =>
    defineController(Thing, {
      rbac,
      async reconcile(thing, { client }) {
        const name = isFixed ? `${thing.metadata.name}-settings` : 'settings'
        const metadata = { name, namespace: `${thing.metadata.namespace}` }
        await client.apply(ConfigMap({ metadata, data: dataOf(thing) }), { fieldManager: 'planted', force: true })
      },
      async cleanup(thing, { client }) {
        const name = isFixed ? `${thing.metadata.name}-settings` : 'settings'
        await client.delete(ConfigMap, { name, namespace: `${thing.metadata.namespace}` }).catch((error: unknown) => {
          if (!isNotFound(error)) throw error
        })
      },
    }),
  ),
  'gives two objects the same port': plant(
    'ports are distinct',
    (isFixed) =>
      defineController(Thing, {
        concurrency: 2,
        rbac,
        async reconcile(thing, { client }) {
          if (thing.status?.port !== undefined) return undefined
          const key = `${thing.metadata.namespace}-${thing.metadata.name}`
          if (!isFixed) {
            const used = (await client.list(Thing)).map(({ status }) => status?.port ?? 0)
            return { status: { port: Math.max(7999, ...used) + 1 } }
          }
          // The name of a ConfigMap reserves the port: the server creates each name once.
          for (let port = 8000; ; port++) {
            const metadata = { name: `port-${port}`, namespace: 'default' }
            const taken = await client.find(ConfigMap, metadata, { consistency: 'live' })
            if (taken === undefined) await client.create(ConfigMap({ metadata, data: { key } }))
            else if (taken.data?.['key'] !== key) continue
            return { status: { port } }
          }
        },
        async cleanup(thing, { client }) {
          const { port } = thing.status ?? {}
          if (!isFixed || port === undefined) return
          await client.delete(ConfigMap, { name: `port-${port}`, namespace: 'default' }).catch((error: unknown) => {
            if (!isNotFound(error)) throw error
          })
        },
      }),
    {
      ignore: ['status.port'],
      without: ['end state'],
      invariants: [
        {
          name: 'ports are distinct',
          when: 'settled',
          check(objects) {
            const things = objects.filter(({ kind }) => kind === 'Thing') as unknown as Thing[]
            const ports = things.flatMap(({ status }) => (status?.port === undefined ? [] : [status.port]))
            return new Set(ports).size === ports.length ? undefined : `the ports are ${ports.join(', ')}`
          },
        },
      ],
    },
  ),
  'keeps the children of members that were removed': plant(
    'end state',
    (isFixed) =>
      defineController(Group, {
        owns: [ConfigMap],
        prune: isFixed,
        async reconcile(group, { apply }) {
          for (const { name } of group.spec.members) {
            await apply(ConfigMap({ metadata: { name: `${group.metadata.name}-${name}` }, data: { name } }))
          }
        },
      }),
    { samples: [Group({ metadata: { name: 'group' }, spec: { members: [{ name: 'a' }, { name: 'b' }] } })] },
  ),
  'sets its defaults again in every update': plant(
    'admission',
    (isFixed) =>
      defineOperator({
        name: 'planted',
        controllers: [
          defineController(Group, {
            owns: [ConfigMap],
            async reconcile({ metadata: { name }, spec }, { apply }) {
              await apply(
                ConfigMap({ metadata: { name }, data: { members: spec.members.map((one) => one.name).join() } }),
              )
            },
          }),
        ],
        webhooks: [
          defineWebhook(Group, {
            default({ spec }) {
              const { members = [] } = spec
              if (!isFixed || members.every(({ name }) => name !== 'base'))
                spec.members = [...members, { name: 'base' }]
            },
          }),
        ],
      }),
    { samples: [Group({ metadata: { name: 'group' }, spec: { members: [{ name: 'a' }] } })] },
  ),
  'cuts off the names of its children': plant('settles', (isFixed) =>
    defineController(Thing, {
      owns: [ConfigMap],
      async reconcile(thing, { apply }) {
        const { name } = thing.metadata
        await apply(configOf(thing, dataOf(thing), isFixed ? name : name.slice(0, 5)))
      },
    }),
  ),
  'merges settings and never removes one': plant(
    'end state',
    (isFixed) =>
      defineController(Group, {
        owns: [ConfigMap],
        rbac,
        async reconcile(group, { apply, client }) {
          const { name, namespace = '' } = group.metadata
          const { settings } = group.spec
          const found = await client.find(ConfigMap, { name, namespace })
          if (isFixed || found === undefined) await apply(ConfigMap({ metadata: { name }, data: { ...settings } }))
          else await client.patch(ConfigMap, { name, namespace }, { data: { ...settings } })
        },
      }),
    {
      samples: [Group({ metadata: { name: 'group' }, spec: { members: [], settings: { a: '1', b: '2' } } })],
    },
  ),
  'drops a field in its conversion': plant(
    'conversion',
    (isFixed) =>
      defineOperator({
        name: 'planted',
        controllers: [defineController(Versioned, { reconcile: ({ spec }) => ({ status: { size: spec.size } }) })],
        conversions: [
          defineConversion(Versioned, [
            spoke(Versioned.versions.v1, {
              toHub({ spec, metadata, status }) {
                const { note, ...annotations } = metadata.annotations ?? {}
                return { spec: { size: spec.size, title: spec.label, note }, status, metadata: { annotations } }
              },
              fromHub({ spec, metadata, status }) {
                const kept = isFixed && spec.note !== undefined ? { note: spec.note } : {}
                const annotations = { ...metadata.annotations, ...kept }
                return { spec: { size: spec.size, label: spec.title }, status, metadata: { annotations } }
              },
            }),
          ]),
        ],
      }),
    { samples: [Versioned({ metadata: { name: 'one' }, spec: { size: 1, title: 'a' } })] },
  ),
}
