import type { KubeObject } from '@kubewright/api'
import { ConfigMap } from '@kubewright/k8s'
import { defineController } from '@kubewright/runtime'
import type { Invariant } from '../oracles/invariants.ts'
import { type Cloud, configOf, dataOf, type Planted, plant, replicated, Thing } from './things.ts'

const nameOf = (thing: Thing): string => `${thing.metadata.namespace}/${thing.metadata.name}`

const thingsOf = (objects: readonly KubeObject[]): Thing[] =>
  objects.filter(({ kind }) => kind === 'Thing') as unknown as Thing[]

const oneEach: Invariant<Cloud> = {
  name: 'one bucket per thing',
  when: 'settled',
  check(objects, { buckets }) {
    const things = thingsOf(objects).length
    return buckets.size === things ? undefined : `${buckets.size} buckets for ${things} things`
  },
}

/** Mistakes about state outside the cluster, timers and replicas. */
export const plantedOutside: Readonly<Record<string, Planted>> = {
  'removes its finalizer although the removal failed': plant(
    'one bucket per thing',
    (isFixed, world) =>
      defineController(Thing, {
        async reconcile(thing) {
          await world.ensure(nameOf(thing), 'x')
        },
        async cleanup(thing) {
          try {
            await world.remove(nameOf(thing))
          } catch (error) {
            if (isFixed) throw error
          }
        },
      }),
    { invariants: [oneEach] },
  ),
  'cannot remove a bucket twice': plant(
    'deletion',
    (isFixed, world) =>
      defineController(Thing, {
        async reconcile(thing) {
          await world.ensure(nameOf(thing), 'x')
        },
        async cleanup(thing) {
          if (isFixed) await world.remove(nameOf(thing))
          else await world.removeExisting(nameOf(thing))
        },
      }),
    { isRare: true },
  ),
  'loses its requeue': plant('end state', (isFixed, world) =>
    defineController(Thing, {
      async reconcile(thing) {
        const name = nameOf(thing)
        if (thing.status?.phase === undefined) {
          await world.prepare(name)
          return { status: { phase: 'Preparing' }, requeueAfter: '10s' }
        }
        if (await world.isReady(name)) return { status: { phase: 'Ready' } }
        return isFixed ? { requeueAfter: '10s' } : undefined
      },
    }),
  ),
  'works on every replica': plant(
    'one bucket per thing',
    (isFixed, world) =>
      replicated(
        defineController(Thing, {
          needsLeader: isFixed,
          async reconcile(thing) {
            if (thing.status?.phase !== undefined) return undefined
            const name = isFixed ? nameOf(thing) : await world.create(nameOf(thing))
            if (isFixed) await world.ensure(name, name)
            return { status: { phase: name } }
          },
          async cleanup(thing) {
            await world.remove(thing.status?.phase ?? nameOf(thing))
          },
        }),
      ),
    { isRare: true, invariants: [oneEach], ignore: ['status.phase'], faults: ['leader'] },
  ),
  'lets a former leader overwrite newer contents': plant(
    'buckets are current',
    (isFixed, world) =>
      replicated(
        defineController(Thing, {
          owns: [ConfigMap],
          async reconcile(thing, { apply }) {
            await apply(configOf(thing, dataOf(thing)))
            const { generation } = thing.metadata
            await world.put(`${thing.metadata.uid}`, String(thing.spec.size), isFixed ? generation : undefined)
          },
          async cleanup(thing) {
            await world.remove(`${thing.metadata.uid}`)
          },
        }),
      ),
    {
      isRare: true,
      invariants: [
        {
          name: 'buckets are current',
          when: 'settled',
          check(objects, { buckets }) {
            for (const { metadata, spec } of thingsOf(objects)) {
              const contents = buckets.get(`${metadata.uid}`)
              if (contents !== String(spec.size))
                return `the bucket of ${metadata.name} has ${contents}, not ${spec.size}`
            }
            return undefined
          },
        },
      ],
    },
  ),
}
