import { ConfigMap, Secret } from '@kubewright/k8s'
import { defineController, watch } from '@kubewright/runtime'
import { configOf, dataOf, type Planted, plant, plantedSamples, rbac, Thing } from './things.ts'

const login = Secret({ metadata: { name: 'login', namespace: 'default' }, stringData: { user: 'alice' } })
const period = 4 * 60_000

/** Mistakes about objects that a sample refers to, about deletions, and about work that is due later. */
export const plantedInputs: Readonly<Record<string, Planted>> = {
  'looks for the users of a Secret under its name': plant(
    'end state',
    (isFixed) =>
      defineController(Thing, {
        owns: [ConfigMap],
        rbac,
        watches: [
          watch(Secret, async ({ metadata: { name: secret, namespace } }, { client }) => {
            const things = await client.list(Thing, { namespace })
            const users = isFixed ? things : things.filter(({ metadata }) => metadata.name === secret)
            return users.map(({ metadata: { name } }) => ({ name, namespace }))
          }),
        ],
        async reconcile(thing, { apply, client }) {
          const { namespace = '' } = thing.metadata
          // Waits with back-off, so that a Secret that is created later is found without a watch.
          const { data } = await client.get(Secret, { name: 'login', namespace })
          await apply(configOf(thing, { user: Buffer.from(data?.['user'] ?? '', 'base64').toString() }))
        },
      }),
    { samples: [...plantedSamples, login] },
  ),
  'reads its Secret once per process': plant(
    'end state',
    (isFixed) => {
      let known: string | undefined
      return defineController(Thing, {
        owns: [ConfigMap],
        rbac,
        watches: [
          watch(Secret, async (_, { client }) => {
            const things = await client.list(Thing)
            return things.map(({ metadata: { name, namespace } }) => ({ name, namespace }))
          }),
        ],
        async reconcile(thing, { apply, client }) {
          if (isFixed) known = undefined
          known ??= (await client.find(Secret, { name: 'login', namespace: 'default' }))?.data?.['user']
          await apply(configOf(thing, { user: Buffer.from(known ?? '', 'base64').toString() }))
        },
      })
    },
    { samples: [...plantedSamples, login] },
  ),
  'gives up when its Secret is missing': plant(
    'end state',
    (isFixed) =>
      defineController(Thing, {
        owns: [ConfigMap],
        rbac,
        async reconcile(thing, { apply, client }) {
          const { namespace = '' } = thing.metadata
          const found = await client.find(Secret, { name: 'login', namespace }, { consistency: 'live' })
          if (found === undefined) return isFixed ? { requeueAfter: '1m' } : undefined
          await apply(configOf(thing, dataOf(thing)))
        },
      }),
    { samples: [...plantedSamples, login] },
  ),
  'does not clean up while it is paused': plant(
    'deletion',
    (isFixed, world) =>
      defineController(Thing, {
        async reconcile({ metadata: { uid }, spec: { color } }) {
          if (color === 'red') await world.ensure(uid, color)
        },
        async cleanup({ metadata: { uid }, spec: { color } }) {
          if (!isFixed && color !== 'red') return { requeueAfter: '1m' }
          return world.remove(uid)
        },
      }),
    { isHeld: (thing) => (thing as Thing).spec.color !== 'red' },
  ),
  'cleans up for the present spec only': plant(
    'no buckets without a thing',
    (isFixed, world) =>
      defineController(Thing, {
        async reconcile({ metadata: { uid }, spec: { color } }) {
          await world.ensure(`${uid}-${color}`, uid)
        },
        async cleanup({ metadata: { uid }, spec: { color } }) {
          for (const one of isFixed ? ['red', 'green'] : [color]) await world.remove(`${uid}-${one}`)
        },
      }),
    {
      invariants: [
        {
          name: 'no buckets without a thing',
          when: 'settled',
          check: (objects, { buckets }) => {
            const owners = new Set(objects.map(({ metadata }) => metadata.uid))
            const left = [...buckets].find(([, owner]) => !owners.has(owner))
            return left && `bucket ${left[0]} remains`
          },
        },
      ],
    },
  ),
  'loses the timer of its renewals in a restart': plant('settles', (isFixed) => {
    const planned = new Set<string>()
    return defineController(Thing, {
      owns: [ConfigMap],
      async reconcile(thing, { apply, client, now }) {
        const { name, namespace = '', uid } = thing.metadata
        const renewed = (await client.find(ConfigMap, { name, namespace }))?.data?.['renewed']
        const due = renewed === undefined || Number.isNaN(Date.parse(renewed)) ? 0 : Date.parse(renewed) + period
        const left = due - now().getTime()
        // The process that has renewed comes back by itself.
        if (left > 0) return isFixed || planned.has(uid) ? { requeueAfter: left } : undefined
        planned.add(uid)
        await apply(configOf(thing, { renewed: now().toISOString() }))
        return { requeueAfter: period }
      },
    })
  }),
}
