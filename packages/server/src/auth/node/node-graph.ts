import type { PersistentVolume, Pod } from '@kubewright/k8s'
import { CacheFollower, type FollowingIndex } from '../../cache/cache-follower.ts'
import type { ResourceCache } from '../../cache/resource-cache.ts'
import type { StoreFeed } from '../../cache/store-feed.ts'
import type { StoredObject } from '../../resource/stored-object.ts'
import {
  claimNamesOf,
  configMapNamesOf,
  mirrorAnnotation,
  resourceClaimNamesOf,
  secretNamesOf,
  volumeSecretsOf,
} from './pod-references.ts'

/** The resources whose objects can belong to a node. */
export type RelatedResource =
  | 'secrets'
  | 'configmaps'
  | 'persistentvolumeclaims'
  | 'persistentvolumes'
  | 'resourceclaims'
  | 'serviceaccounts'
  | 'pods'
  | 'volumeattachments'
  | 'resourceslices'

const prefixes = {
  pods: '/registry/pods/',
  volumes: '/registry/persistentvolumes/',
  attachments: '/registry/volumeattachments/',
  slices: '/registry/resourceslices/',
}

/**
 * Relates objects to the nodes that need them: the objects that the pods of a node refer to, the volumes of their claims and the secrets
 * of these volumes (plugin/pkg/auth/authorizer/node/graph.go). Follows the watch caches, so it knows a pod as soon as a watch of the
 * kubelet delivers it.
 */
export class NodeGraph {
  readonly #podCache: ResourceCache
  readonly #attachments: ResourceCache
  readonly #slices: ResourceCache
  readonly #pods: PodIndex
  readonly #volumes: VolumeIndex

  private constructor(caches: Readonly<Record<keyof typeof prefixes, ResourceCache>>) {
    this.#podCache = caches.pods
    this.#attachments = caches.attachments
    this.#slices = caches.slices
    this.#pods = new PodIndex(caches.pods)
    this.#volumes = new VolumeIndex(caches.volumes)
  }

  static async open(feed: StoreFeed): Promise<NodeGraph> {
    return new NodeGraph({
      pods: await feed.cache(prefixes.pods),
      volumes: await feed.cache(prefixes.volumes),
      attachments: await feed.cache(prefixes.attachments),
      slices: await feed.cache(prefixes.slices),
    })
  }

  /** Whether the node needs the object. The namespace of cluster-scoped objects is empty. */
  relates(node: string, resource: RelatedResource, namespace: string, name: string): boolean {
    switch (resource) {
      case 'pods':
        return nodeNameIn(this.#podCache, `${namespace}/${name}`) === node
      case 'volumeattachments':
        return nodeNameIn(this.#attachments, name) === node
      case 'resourceslices':
        return nodeNameIn(this.#slices, name) === node
      case 'persistentvolumes': {
        const claim = this.#volumes.claimOf(name)
        return claim !== undefined && this.#pods.refersTo(node, claim)
      }
      case 'secrets':
        return (
          this.#pods.refersTo(node, keyOf(resource, namespace, name)) ||
          this.#volumes.claimsWithSecret(`${namespace}/${name}`).some((claim) => this.#pods.refersTo(node, claim))
        )
      default:
        return this.#pods.refersTo(node, keyOf(resource, namespace, name))
    }
  }
}

function keyOf(resource: RelatedResource, namespace: string, name: string): string {
  return `${resource} ${namespace}/${name}`
}

function nodeNameIn(cache: ResourceCache, key: string): string | undefined {
  const spec = cache.get(cache.prefix + key)?.object['spec'] as { nodeName?: string | undefined } | undefined
  return spec?.nodeName
}

/** The nodes of the pods that refer to an object. */
class PodIndex implements FollowingIndex {
  readonly #follower: CacheFollower
  /** By key of the referenced object and node: the number of pods. */
  readonly #nodes = new Map<string, Map<string, number>>()
  readonly #references = new Map<string, { readonly node: string; readonly keys: ReadonlySet<string> }>()

  constructor(cache: ResourceCache) {
    this.#follower = new CacheFollower(cache, this)
  }

  refersTo(node: string, key: string): boolean {
    this.#follower.catchUp()
    return this.#nodes.get(key)?.has(node) ?? false
  }

  clear(): void {
    this.#nodes.clear()
    this.#references.clear()
  }

  add(stored: StoredObject): void {
    const pod = stored.object as unknown as Pod
    const node = pod.spec?.nodeName ?? ''
    // Kubelets create mirror pods, which must not grant them access to other objects.
    if (node === '' || pod.metadata.annotations?.[mirrorAnnotation] !== undefined) return
    const keys = new Set(referencesOf(pod))
    if (keys.size === 0) return
    this.#references.set(stored.key, { node, keys })
    for (const key of keys) {
      let counts = this.#nodes.get(key)
      if (!counts) this.#nodes.set(key, (counts = new Map()))
      counts.set(node, (counts.get(node) ?? 0) + 1)
    }
  }

  drop(podKey: string): void {
    const known = this.#references.get(podKey)
    if (!known) return
    this.#references.delete(podKey)
    for (const key of known.keys) {
      const counts = this.#nodes.get(key)!
      const left = counts.get(known.node)! - 1
      if (left > 0) counts.set(known.node, left)
      else counts.delete(known.node)
      if (counts.size === 0) this.#nodes.delete(key)
    }
  }
}

function* referencesOf(pod: Pod): Iterable<string> {
  const { namespace = '' } = pod.metadata
  if (!pod.spec) return
  if (pod.spec.serviceAccountName) yield keyOf('serviceaccounts', namespace, pod.spec.serviceAccountName)
  for (const name of secretNamesOf(pod.spec)) yield keyOf('secrets', namespace, name)
  for (const name of configMapNamesOf(pod.spec)) yield keyOf('configmaps', namespace, name)
  for (const name of claimNamesOf(pod)) yield keyOf('persistentvolumeclaims', namespace, name)
  for (const name of resourceClaimNamesOf(pod)) yield keyOf('resourceclaims', namespace, name)
}

/** The claims of volumes, and the volumes that need a secret. */
class VolumeIndex implements FollowingIndex {
  readonly #cache: ResourceCache
  readonly #follower: CacheFollower
  /** By key of the volume. */
  readonly #volumes = new Map<string, { readonly claim: string; readonly secrets: readonly string[] }>()
  /** By namespace and name of the secret: the keys of volumes. */
  readonly #bySecret = new Map<string, Set<string>>()

  constructor(cache: ResourceCache) {
    this.#cache = cache
    this.#follower = new CacheFollower(cache, this)
  }

  claimOf(volume: string): string | undefined {
    this.#follower.catchUp()
    return this.#volumes.get(this.#cache.prefix + volume)?.claim
  }

  claimsWithSecret(secret: string): readonly string[] {
    this.#follower.catchUp()
    return [...(this.#bySecret.get(secret) ?? [])].map((key) => this.#volumes.get(key)!.claim)
  }

  clear(): void {
    this.#volumes.clear()
    this.#bySecret.clear()
  }

  add(stored: StoredObject): void {
    const volume = stored.object as unknown as PersistentVolume
    const claim = volume.spec?.claimRef
    if (!claim) return
    const secrets = volumeSecretsOf(volume).map(([namespace, name]) => `${namespace}/${name}`)
    this.#volumes.set(stored.key, {
      claim: keyOf('persistentvolumeclaims', claim.namespace ?? '', claim.name ?? ''),
      secrets,
    })
    for (const secret of secrets) {
      const volumes = this.#bySecret.get(secret)
      if (volumes) volumes.add(stored.key)
      else this.#bySecret.set(secret, new Set([stored.key]))
    }
  }

  drop(key: string): void {
    const known = this.#volumes.get(key)
    if (!known) return
    this.#volumes.delete(key)
    for (const secret of known.secrets) {
      const volumes = this.#bySecret.get(secret)
      volumes?.delete(key)
      if (volumes?.size === 0) this.#bySecret.delete(secret)
    }
  }
}
