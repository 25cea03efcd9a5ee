import {
  ApiError,
  allNamespaces,
  type Client,
  type Context,
  condition,
  defineController,
  index,
  isNotFound,
  through,
  watch,
} from 'kubewright'
import { Namespace, Secret } from 'kubewright/k8s'
import { changed, generationChanged } from 'kubewright/predicates'
import { copyFor, copyLabels, isFaithful, isForeignChange, ownerOf } from './copy.ts'
import { SecSynch } from './sec-synch.ts'

// Owner references cannot cross namespaces, so related objects are found by indexes.
const bySource = index(SecSynch, 'bySource', ({ spec }) => `${spec.sourceNamespace}/${spec.secretName}`)
const byDestination = index(SecSynch, 'byDestination', ({ spec }) => spec.destinationNamespaces)

export const secSynchController = defineController(SecSynch, {
  // Ignore updates of its own status.
  predicates: [generationChanged],
  finalizer: 'tutorial.study.dev/finalizer',
  watches: [
    watch(Secret, through(bySource, { anyNamespace: true, value: keyText }), {
      predicates: [changed('data', 'type')],
    }),
    watch(Secret, synchsInto, {
      predicates: [{ add: (secret) => ownerOf(secret) === undefined, update: isForeignChange }],
    }),
    watch(Secret, unwantedBy, { predicates: [{ update: () => false }] }),
    watch(Namespace, through(byDestination), { predicates: [{ update: () => false }] }),
  ],
  rbac: [{ apiGroups: [''], resources: ['secrets'], verbs: ['create', 'update', 'delete'] }],

  async reconcile(synch, { client, now, signal }) {
    const { sourceNamespace, secretName, destinationNamespaces } = synch.spec
    const source = await client.find(Secret, { name: secretName, namespace: sourceNamespace })
    const wanted = new Set(source === undefined ? [] : destinationNamespaces)

    let isChanged = await removeCopies(synch, { client, signal }, (copy) => {
      return copy.metadata.name !== secretName || !wanted.has(copy.metadata.namespace ?? '')
    })
    const destinations: Destination[] = []
    for (const namespace of source === undefined ? [] : destinationNamespaces) {
      const { wrote, ...destination } = await copyTo(synch, source!, namespace, { client, signal })
      destinations.push(destination)
      isChanged ||= wrote
    }
    const missing = destinations.filter(({ state }) => state !== 'Copied').map(({ namespace }) => namespace)
    // Copies without a time were created by a process that crashed before it wrote the status.
    const isUnrecorded = missing.length < destinations.length && synch.status?.lastSyncTime === undefined
    const lastSyncTime = isChanged || isUnrecorded ? now().toISOString() : synch.status?.lastSyncTime
    const isOccupied = destinations.some(({ state }) => state === 'Occupied')
    return {
      // A Secret that the watch has never shown, because it lagged behind a conflict, is also deleted without an event.
      ...(isOccupied ? { requeueAfter: '10m' as const } : {}),
      status: {
        ...(lastSyncTime === undefined ? {} : { lastSyncTime }),
        destinations,
        conditions: [
          source === undefined
            ? condition('Synced', false, 'NoSource', `Secret ${sourceNamespace}/${secretName} does not exist`)
            : missing.length > 0
              ? condition('Synced', false, 'Incomplete', `no copy in ${missing.join(', ')}`)
              : condition('Synced', true, 'Copied', `${destinations.length} copies`),
        ],
      },
    }
  },

  async cleanup(synch, context) {
    // The cache may lack a copy that was made just before a restart, and there is no later chance to delete it.
    await removeCopies(synch, context, () => true, 'live')
  },
})

type Destination = NonNullable<SecSynch['status']>['destinations'][number]
type Tools = Pick<Context, 'client' | 'signal'>

async function copyTo(
  synch: SecSynch,
  source: Secret,
  namespace: string,
  { client, signal }: Tools,
): Promise<Destination & { readonly wrote: boolean }> {
  const found = await client.find(Namespace, namespace)
  if (found === undefined || found.metadata.deletionTimestamp !== undefined) return noNamespace(namespace)
  const draft = copyFor(synch, source, namespace)
  const copied = { namespace, state: 'Copied' } as const
  const existing = await client.find(Secret, draft.metadata)
  if (existing !== undefined && ownerOf(existing) !== ownerOf(draft)) {
    const owner = ownerOf(existing)
    const description = owner === undefined ? 'is not a copy' : `is a copy for ${owner}`
    return {
      namespace,
      state: 'Occupied',
      message: `Secret ${namespace}/${draft.metadata.name} ${description}`,
      wrote: false,
    }
  }
  if (existing !== undefined && isFaithful(existing, source)) return { ...copied, wrote: false }
  try {
    if (existing?.type === source.type) {
      const { resourceVersion } = existing!.metadata
      await client.update({ ...draft, metadata: { ...draft.metadata, resourceVersion } }, { signal })
    } else {
      // The type of a Secret is immutable, so replace the Secret.
      if (existing !== undefined) await remove(existing, { client, signal })
      await client.create(draft, { signal })
    }
    return { ...copied, wrote: true }
  } catch (error) {
    // The namespace was deleted meanwhile. Its watch triggers a reconcile when it is created again.
    if (isNotFound(error) || isTerminating(error)) return noNamespace(namespace)
    throw error
  }
}

const noNamespace = (namespace: string) =>
  ({ namespace, state: 'NoNamespace', message: `Namespace ${namespace} does not exist`, wrote: false }) as const

const isTerminating = (error: unknown): boolean =>
  error instanceof ApiError && error.causes.some(({ reason }) => reason === 'NamespaceTerminating')

/** Deletes matching copies of a SecSynch in all namespaces. Resolves with whether there were any. */
async function removeCopies(
  synch: SecSynch,
  tools: Tools,
  isStale: (copy: Secret) => boolean,
  consistency?: 'live',
): Promise<boolean> {
  const key = keyText(synch)
  const copies = await tools.client.list(Secret, { namespace: allNamespaces, labels: copyLabels, consistency })
  const stale = copies.filter((copy) => ownerOf(copy) === key && isStale(copy))
  for (const copy of stale) await remove(copy, tools)
  return stale.length > 0
}

async function remove({ metadata }: Secret, { client, signal }: Tools): Promise<void> {
  try {
    await client.delete(Secret, metadata, { preconditions: { uid: metadata.uid }, signal })
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
}

function keyText({ metadata }: Secret | SecSynch): string {
  return `${metadata.namespace}/${metadata.name}`
}

/** Maps a Secret to the SecSynches that want a copy in its place, and to the one whose copy it is. */
async function synchsInto(secret: Secret, { client }: { readonly client: Client }) {
  const { name, namespace = '' } = secret.metadata
  const where = { 'spec.secretName': name }
  const synchs = await client.list(SecSynch, { namespace: allNamespaces, where, index: byDestination(namespace) })
  const owner = ownerOf(secret)
  const concerned = synchs.map(keyText)
  return owner === undefined ? concerned : [...concerned, owner]
}

/** Maps a copy to its SecSynch if that does not want it: the copy of an earlier process may appear late. */
async function unwantedBy(copy: Secret, { client }: { readonly client: Client }) {
  const owner = ownerOf(copy)
  const synch = owner === undefined ? undefined : await client.find(SecSynch, owner)
  if (owner === undefined || synch === undefined) return []
  const { sourceNamespace, secretName, destinationNamespaces } = synch.spec
  const source = await client.find(Secret, { name: secretName, namespace: sourceNamespace })
  const isPlace = copy.metadata.name === secretName && destinationNamespaces.includes(copy.metadata.namespace ?? '')
  return source !== undefined && isPlace ? [] : [owner]
}
