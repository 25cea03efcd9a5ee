import { controllerRef, defineResource, isForbidden, isNotFound, type KubeObject } from '@kubewright/api'
import { index } from '@kubewright/client/queries'
import { ConfigMap, Deployment, PersistentVolumeClaim, Secret } from '@kubewright/k8s'
import { defineController, generationChanged, through, watch } from '@kubewright/runtime'
import { s } from '@kubewright/schema'
import { configOf, dataOf, ownedConfig, type Planted, plant, rbac, Thing } from './things.ts'

const claim = (thing: Thing, index: number) =>
  PersistentVolumeClaim({
    metadata: {
      name: `${thing.metadata.name}-${index}`,
      namespace: `${thing.metadata.namespace}`,
      ownerReferences: [controllerRef(thing as KubeObject)],
    },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  })

/** A random value, encoded for a Secret. Simulations put `Math.random` of an operator on their seed. */
const newPassword = (): string => Buffer.from(Math.floor(Math.random() * 1_000_000_000).toString(36)).toString('base64')

const Bucket = defineResource({
  group: 'planted.example.com',
  version: 'v1',
  kind: 'Bucket',
  spec: s.object({ region: s.enum('eu', 'us').default('eu') }),
  status: s.object({ isReady: s.bool() }).optional(),
})

/** An object that refers to a bucket. */
const Access = defineResource({
  group: 'planted.example.com',
  version: 'v1',
  kind: 'Access',
  spec: s.object({ bucket: s.string() }),
  status: s.object({ isReady: s.bool() }).optional(),
})
const byBucket = index(Access, 'byBucket', ({ spec }) => [spec.bucket])

/** Mistakes about old, intermediate and unobserved states, and about state in memory. */
export const plantedStates: Readonly<Record<string, Planted>> = {
  'deletes volumes because of an old spec': plant(
    'data',
    (isFixed) =>
      defineController(Thing, {
        owns: [PersistentVolumeClaim],
        rbac,
        async reconcile(thing, { client }) {
          const { name, namespace = '' } = thing.metadata
          const claims = await client.list(PersistentVolumeClaim, { namespace, controlledBy: thing })
          for (let i = 0; i < thing.spec.size; i++) {
            if (claims.some(({ metadata }) => metadata.name === `${name}-${i}`)) continue
            await client.create(claim(thing, i)).catch((error: unknown) => {
              if ((error as { status?: { code?: number } }).status?.code !== 409) throw error
            })
          }
          for (const { metadata } of claims) {
            if (Number(metadata.name.slice(name.length + 1)) < thing.spec.size) continue
            if (isFixed) {
              const live = await client.find(Thing, { name, namespace }, { consistency: 'live' })
              if (live?.metadata.uid !== thing.metadata.uid || live.spec.size !== thing.spec.size) continue
            }
            await client
              .delete(
                PersistentVolumeClaim,
                { name: metadata.name, namespace },
                { preconditions: { uid: metadata.uid } },
              )
              .catch((error: unknown) => {
                if (!isNotFound(error)) throw error
              })
          }
        },
      }),
    { isRare: true },
  ),
  'generates the password again after a restart': plant('data', (isFixed) => {
    const known = new Set<string>()
    return defineController(Thing, {
      owns: [Secret],
      rbac,
      async reconcile(thing, { apply, client }) {
        const { name, namespace = '', uid } = thing.metadata
        const found = await client.find(Secret, { name, namespace }, { consistency: 'live' })
        if (isFixed ? found !== undefined : known.has(uid) && found !== undefined) return
        await apply(Secret({ metadata: { name }, data: { password: newPassword() } }))
        known.add(uid)
      },
    })
  }),
  'deletes the password of a later object with the same name': plant(
    'data',
    (isFixed) => {
      const annotation = 'planted.example.com/uid'
      return defineController(Thing, {
        rbac,
        watches: [watch(Secret, ({ metadata }) => [metadata.name])],
        async reconcile({ metadata: { name, namespace = '', uid } }, { client }) {
          const key = { name, namespace }
          const live = await client.find(Thing, key, { consistency: 'live' })
          if (live?.metadata.uid !== uid || live.metadata.deletionTimestamp !== undefined) return
          if ((await client.find(Secret, key, { consistency: 'live' })) !== undefined) return
          // Without owner: the cleanup decides what happens to it.
          const metadata = { ...key, annotations: { [annotation]: uid } }
          await client.create(Secret({ metadata, data: { password: newPassword() } }))
        },
        async cleanup({ metadata: { name, namespace = '', uid } }, { client }) {
          const key = { name, namespace }
          const found = await client.find(Secret, key, { consistency: 'live' })
          if (found === undefined || (isFixed && found.metadata.annotations?.[annotation] !== uid)) return
          const options = { preconditions: { uid: found.metadata.uid } }
          await client.delete(Secret, key, options).catch((error: unknown) => {
            if (!isNotFound(error)) throw error
          })
        },
      })
    },
    { faults: ['stale'] },
  ),
  'takes the child of a former object for its own': plant(
    'end state',
    (isFixed) =>
      defineController(Thing, {
        owns: [ConfigMap],
        rbac,
        async reconcile(thing, { client }) {
          const { name, namespace = '', uid } = thing.metadata
          if (thing.status?.phase === 'Done') return undefined
          const found = await client.find(ConfigMap, { name, namespace }, { consistency: 'live' })
          const isOther = found !== undefined && found.metadata.ownerReferences?.[0]?.uid !== uid
          if (isFixed && isOther) return { requeueAfter: '1s' }
          if (found === undefined) await client.create(ownedConfig(thing, { name }))
          return { status: { phase: 'Done' } }
        },
      }),
    { faults: ['crash', 'error'] },
  ),
  'forgets that a name can be used again': plant(
    'end state',
    (isFixed) => {
      const done = new Set<string>()
      return defineController(Thing, {
        owns: [ConfigMap],
        async reconcile(thing, { apply }) {
          const { name, namespace, uid } = thing.metadata
          const key = isFixed ? uid : `${namespace}/${name}`
          if (!isFixed && done.has(key) && thing.status?.phase === undefined && thing.metadata.generation === 1) return
          await apply(configOf(thing, dataOf(thing)))
          done.add(key)
        },
      })
    },
    { faults: ['crash'] },
  ),
  'changes its default values': plant(
    'end state',
    (isFixed) => {
      const defaults: Record<string, string> = { text: 'none' }
      return defineController(Thing, {
        owns: [ConfigMap],
        async reconcile(thing, { apply }) {
          const data = Object.assign(isFixed ? { ...defaults } : defaults, dataOf(thing), thing.spec.extra)
          await apply(configOf(thing, { ...data }))
        },
      })
    },
    { faults: ['error'] },
  ),
  'treats a refusal as final': plant('end state', (isFixed) =>
    defineController(Thing, {
      owns: [ConfigMap],
      async reconcile(thing, { apply }) {
        try {
          await apply(configOf(thing, dataOf(thing)))
          return { status: { phase: 'Ready' } }
        } catch (error) {
          if (!isFixed && isForbidden(error)) return { status: { phase: 'Denied' } }
          throw error
        }
      },
    }),
  ),
  'does not clear the error in its status': plant('end state', (isFixed) =>
    defineController(Thing, {
      owns: [ConfigMap],
      async reconcile(thing, { apply }) {
        await apply(configOf(thing, dataOf(thing)))
        if (!isFixed && thing.status?.phase !== undefined) return undefined
        return { status: { phase: 'Ready' } }
      },
      onError: () => ({ mergeStatus: { phase: 'Failed' } }),
    }),
  ),
  'writes random data into its child': plant(
    'hot loop',
    (isFixed) =>
      defineController(Thing, {
        owns: [ConfigMap],
        async reconcile(thing, { apply }) {
          await apply(configOf(thing, { salt: isFixed ? 'fixed' : String(Math.random()) }))
        },
      }),
    { maxRequests: 1000 },
  ),
  'updates every object from an old copy': plant('end state', (isFixed) =>
    defineController(Thing, {
      owns: [ConfigMap],
      rbac,
      async reconcile(thing, { apply, client }) {
        const { name, namespace = '' } = thing.metadata
        const child = await client.find(ConfigMap, { name, namespace })
        if (child === undefined || isFixed) {
          await apply(configOf(thing, dataOf(thing)))
          return
        }
        // Without the resource version, the update overwrites newer data; the wrong comparison never repairs it.
        if (child.data?.['size'] === String(thing.spec.size)) return
        const { resourceVersion: _, ...metadata } = child.metadata
        await client.update({ ...child, metadata: metadata as typeof child.metadata, data: dataOf(thing) })
      },
    }),
  ),
  'overlooks the status of an object to which another one refers': plant(
    'settles',
    (isFixed) => [
      defineController(Bucket, {
        owns: [Deployment],
        async reconcile({ metadata: { name } }, { apply }) {
          const labels = { bucket: name }
          const template = { metadata: { labels }, spec: { containers: [{ name: 'app', image: 'app:1' }] } }
          const spec = { selector: { matchLabels: labels }, template }
          const { status } = await apply(Deployment({ metadata: { name }, spec }))
          return { status: { isReady: (status?.readyReplicas ?? 0) > 0 } }
        },
      }),
      defineController(Access, {
        watches: [watch(Bucket, through(byBucket), { predicates: isFixed ? [] : [generationChanged] })],
        async reconcile({ metadata: { namespace = '' }, spec: { bucket } }, { client }) {
          const found = await client.find(Bucket, { name: bucket, namespace })
          return { status: { isReady: found?.status?.isReady ?? false } }
        },
      }),
    ],
    {
      samples: [
        Access({ metadata: { name: 'one-access' }, spec: { bucket: 'one' } }),
        Bucket({ metadata: { name: 'one' }, spec: {} }),
      ],
    },
  ),
}
