// The last version of the tutorial that this example is based on, step by step. The tests show its mistakes. Do not use it.
import { isDeepStrictEqual } from 'node:util'
import { defineOperator, isNotFound } from 'kubewright'
import { Secret } from 'kubewright/k8s'
import { changed } from 'kubewright/predicates'
import { defineKeyController, kindSource, mapTo } from 'kubewright/sources'
import { SecSynch } from './sec-synch.ts'

const finalizer = 'tutorial.study.dev/finalizer'
const marked = { 'secsynch-enable': 'true' }

const tutorialController = defineKeyController({
  name: 'secsynch',
  kind: SecSynch,
  sources: [
    // In the tutorial the predicate also filters deletions, which is not possible here.
    kindSource(SecSynch, { predicates: [changed('spec')] }),
    kindSource(Secret, {
      predicates: [{ add: () => false, update: (before, after) => !isDeepStrictEqual(before.data, after.data) }],
      map: mapTo(async (secret, { client }) => {
        if (secret.metadata.labels?.['secsynch-enable'] !== 'true') return []
        const synchs = await client.list(SecSynch)
        return synchs.filter(({ spec }) => spec.secretName === secret.metadata.name).map(({ metadata }) => metadata)
      }),
    }),
  ],
  rbac: [
    { apiGroups: [''], resources: ['secrets'], verbs: ['create', 'delete', 'update'] },
    { apiGroups: ['tutorial.study.dev'], resources: ['secsynches'], verbs: ['update'] },
    { apiGroups: ['tutorial.study.dev'], resources: ['secsynches/status'], verbs: ['patch'] },
  ],

  async reconcile(key, { client, now }) {
    const synch = await client.find(SecSynch, key)
    if (synch === undefined) return undefined
    const { sourceNamespace, secretName: name, destinationNamespaces } = synch.spec
    const finalizers = synch.metadata.finalizers ?? []
    if (synch.metadata.deletionTimestamp !== undefined) {
      // Fails when a copy was already deleted.
      for (const namespace of destinationNamespaces) await client.delete(Secret, { name, namespace })
      const rest = finalizers.filter((one) => one !== finalizer)
      await client.update({ ...synch, metadata: { ...synch.metadata, finalizers: rest } })
      return undefined
    }
    if (!finalizers.includes(finalizer)) {
      await client.update({ ...synch, metadata: { ...synch.metadata, finalizers: [...finalizers, finalizer] } })
    }

    const source = await client.find(Secret, { name, namespace: sourceNamespace })
    if (source === undefined) return { requeueAfter: '3m' }
    await client.update({ ...source, metadata: { ...source.metadata, labels: marked } })
    for (const namespace of destinationNamespaces) {
      const copy = await client.find(Secret, { name, namespace })
      if (copy === undefined) {
        try {
          await client.create(Secret({ metadata: { name, namespace, labels: marked }, data: source.data }))
        } catch (error) {
          if (isNotFound(error)) return { requeueAfter: '3m' }
          throw error
        }
      } else {
        await client.update({ ...copy, metadata: { ...copy.metadata, labels: marked }, data: source.data })
      }
    }
    const lastSyncTime = now().toISOString()
    await client
      .subresource(SecSynch, 'status')
      .patch(key, { status: { lastSyncTime, destinations: [], conditions: [] } })
    return undefined
  },
})

export const tutorialOperator = defineOperator({ name: 'tutorial', controllers: [tutorialController] })
