import { isAlreadyExists, isNotFound } from '@kubewright/api'
import { ConfigMap, Deployment, Secret } from '@kubewright/k8s'
import { defineController, defineOperator, defineWebhook, invalid } from '@kubewright/runtime'
import { configOf, dataOf, ownedConfig, type Planted, plant, rbac, Seen, Thing } from './things.ts'

/** Mistakes that one fault or one operation shows. */
export const plantedBasics: Readonly<Record<string, Planted>> = {
  'fails when the child exists after a crash': plant(
    'end state',
    (isFixed) =>
      defineController(Thing, {
        rbac,
        async reconcile(thing, { client }) {
          // A late status of a former object with the same name proves nothing: API servers do not check the uid.
          if (!isFixed && thing.status?.phase === 'Created') return undefined
          const { name, namespace = '', uid } = thing.metadata
          try {
            await client.create(ownedConfig(thing, { fixed: 'yes' }))
          } catch (error) {
            if (!isFixed || !isAlreadyExists(error)) throw error
            const found = await client.find(ConfigMap, { name, namespace }, { consistency: 'live' })
            if (found?.metadata.ownerReferences?.[0]?.uid !== uid) throw error
          }
          return { status: { phase: 'Created' } }
        },
      }),
    { faults: ['crash', 'error', 'slow'] },
  ),
  'remembers its children in memory': plant('end state', (isFixed) => {
    const known = new Map<string, number>()
    return defineController(Thing, {
      owns: [ConfigMap],
      prune: isFixed,
      rbac,
      async reconcile(thing, { apply, client }) {
        const { name, namespace } = thing.metadata
        for (let i = 0; i < thing.spec.size; i++) await apply(configOf(thing, { part: String(i) }, `${name}-${i}`))
        if (isFixed) return
        const before = known.get(`${namespace}/${name}`) ?? 0
        for (let i = thing.spec.size; i < before; i++) {
          await client.delete(ConfigMap, { name: `${name}-${i}`, namespace: `${namespace}` }).catch(() => undefined)
        }
        known.set(`${namespace}/${name}`, thing.spec.size)
      },
    })
  }),
  'swallows errors': plant('end state', (isFixed) =>
    defineController(Thing, {
      owns: [ConfigMap],
      async reconcile(thing, { apply }) {
        try {
          await apply(configOf(thing, dataOf(thing)))
        } catch (error) {
          if (isFixed) throw error
        }
      },
    }),
  ),
  'loses a bucket between its creation and the record of its name': plant(
    'one bucket per thing',
    (isFixed, world) =>
      defineController(Thing, {
        async reconcile(thing) {
          const owner = `${thing.metadata.namespace}/${thing.metadata.name}`
          if (isFixed) {
            await world.ensure(owner, owner)
            return { status: { phase: owner } }
          }
          if (thing.status?.phase !== undefined) return undefined
          return { status: { phase: await world.create(owner) } }
        },
        async cleanup(thing) {
          const { phase } = thing.status ?? {}
          await world.remove(isFixed ? `${thing.metadata.namespace}/${thing.metadata.name}` : `${phase}`)
        },
      }),
    {
      ignore: ['status.phase'],
      invariants: [
        {
          name: 'one bucket per thing',
          when: 'settled',
          check(objects, { buckets }) {
            const things = objects.filter(({ kind }) => kind === 'Thing').length
            return buckets.size === things ? undefined : `${buckets.size} buckets for ${things} things`
          },
        },
      ],
    },
  ),
  'does not watch its child': plant('end state', (isFixed) =>
    defineController(Thing, {
      owns: isFixed ? [ConfigMap] : [],
      rbac,
      async reconcile(thing, { client }) {
        await client.apply(ownedConfig(thing, dataOf(thing)), { fieldManager: 'planted', force: true })
      },
    }),
  ),
  'creates its child only once': plant('end state', (isFixed) =>
    defineController(Thing, {
      owns: [ConfigMap],
      async reconcile(thing, { apply, client }) {
        const { name, namespace } = thing.metadata
        const found = await client.find(ConfigMap, { name, namespace: `${namespace}` })
        if (isFixed || found === undefined) await apply(configOf(thing, dataOf(thing)))
      },
    }),
  ),
  'keeps the child of a section that was removed': plant('end state', (isFixed) =>
    defineController(Thing, {
      owns: [ConfigMap],
      prune: isFixed,
      async reconcile(thing, { apply }) {
        const { extra } = thing.spec
        if (extra) await apply(configOf(thing, { text: extra.text }, `${thing.metadata.name}-extra`))
      },
    }),
  ),
  'cannot clean up when the child is gone': plant('deletion', (isFixed) =>
    defineController(Thing, {
      owns: [ConfigMap],
      rbac,
      async reconcile(thing, { apply }) {
        await apply(configOf(thing, dataOf(thing)))
      },
      async cleanup(thing, { client }) {
        const { name, namespace } = thing.metadata
        try {
          await client.delete(ConfigMap, { name, namespace: `${namespace}` })
        } catch (error) {
          if (!isFixed || !isNotFound(error)) throw error
        }
      },
    }),
  ),
  'writes the time into its status': plant(
    'hot loop',
    (isFixed) =>
      defineController(Thing, {
        reconcileOwnWrites: true,
        reconcile: (_, { now }) => ({ status: { checked: isFixed ? 'yes' : now().toISOString() } }),
      }),
    { maxRequests: 300 },
  ),
  'puts children of all namespaces into one': plant(
    'end state',
    (isFixed) =>
      defineController(Thing, {
        rbac,
        async reconcile(thing, { client }) {
          const namespace = isFixed ? `${thing.metadata.namespace}` : 'default'
          const draft = ConfigMap({ metadata: { name: thing.metadata.name, namespace }, data: dataOf(thing) })
          await client.apply(draft, { fieldManager: 'planted', force: true })
        },
        async cleanup(thing, { client }) {
          const namespace = isFixed ? `${thing.metadata.namespace}` : 'default'
          await client.delete(ConfigMap, { name: thing.metadata.name, namespace }).catch((error: unknown) => {
            if (!isNotFound(error)) throw error
          })
        },
      }),
    { faults: ['crash', 'error', 'slow'] },
  ),
  'counts its own reconciles': plant('end state', (isFixed) =>
    defineController(Thing, {
      owns: [ConfigMap],
      async reconcile(thing, { apply }) {
        await apply(configOf(thing, dataOf(thing)))
        if (isFixed) return { status: { count: thing.spec.size } }
        return { status: { count: Math.min((thing.status?.count ?? 0) + 1, 50) } }
      },
    }),
  ),
  'does not report the generation that it has seen': plant(
    'status',
    (isFixed) =>
      defineController(Seen, {
        reconcile: ({ status, metadata }) =>
          isFixed || status === undefined ? { status: { observedGeneration: metadata.generation ?? 0 } } : undefined,
      }),
    { samples: [Seen({ metadata: { name: 'seen' }, spec: { size: 1 } })] },
  ),
  'reports replicas that are wanted as ready': plant('status', (isFixed) =>
    defineController(Thing, {
      owns: [Deployment],
      async reconcile(thing, { apply }) {
        const labels = { app: thing.metadata.name }
        const containers = [{ name: 'app', image: 'app:1' }]
        const deployment = await apply(
          Deployment({
            metadata: { name: thing.metadata.name },
            spec: {
              replicas: Math.min(2, thing.spec.size),
              selector: { matchLabels: labels },
              template: {
                metadata: { labels, annotations: { 'kubewright.dev/ready': 'false' } },
                spec: { containers },
              },
            },
          }),
        )
        const ready = isFixed ? (deployment.status?.readyReplicas ?? 0) : Math.min(2, thing.spec.size)
        return { status: { readyReplicas: ready } }
      },
    }),
  ),
  'does not await a write': plant('settles', (isFixed) =>
    defineController(Thing, {
      owns: [ConfigMap],
      async reconcile(thing, { apply }) {
        const done = apply(configOf(thing, dataOf(thing)))
        if (isFixed) await done
      },
    }),
  ),
  'reads Secrets without permission': plant(
    'rights',
    (isFixed) =>
      defineController(Thing, {
        rbac: isFixed ? rbac : [],
        async reconcile(thing, { client }) {
          await client.apply(
            Secret({ metadata: { name: thing.metadata.name, namespace: `${thing.metadata.namespace}` } }),
            { fieldManager: 'planted', force: true },
          )
        },
        async cleanup(thing, { client }) {
          const { name, namespace } = thing.metadata
          await client.delete(Secret, { name, namespace: `${namespace}` }).catch((error: unknown) => {
            if (!isNotFound(error)) throw error
          })
        },
      }),
    { faults: ['crash', 'error', 'slow'] },
  ),
  'has a webhook that refuses the removal of its finalizer': plant('own webhooks', (isFixed) =>
    defineOperator({
      name: 'planted',
      controllers: [defineController(Thing, { reconcile: () => undefined, cleanup: () => undefined })],
      webhooks: [
        defineWebhook(Thing, {
          validate: (thing, { old }) => [
            !isFixed &&
              old !== undefined &&
              thing.metadata.deletionTimestamp !== undefined &&
              invalid('spec', 'is being deleted'),
          ],
        }),
      ],
    }),
  ),
}
