import { type AnyKind, formatKey, type KubeObject, toNameAndNamespace } from '@kubewright/api'
import { type Key, metadataOnly } from '@kubewright/client'
import type { CacheScope } from '../cluster/object-cache.ts'
import type { ControllerParts } from '../controller/controller-parts.ts'
import { defineKeyController, type KeyController } from '../controller/key-controller.ts'
import { forOwner, type KeyMapping } from '../controller/sources/key-mapping.ts'
import { filteredKindSource, kindSource } from '../controller/sources/kind-source.ts'
import type { Source } from '../controller/sources/source.ts'
import type { Controller } from '../define/define-controller.ts'
import type { Watch } from '../define/watched-kinds.ts'
import { ownedKindsInUse } from './children.ts'
import { ObjectReconciler } from './object-reconciler.ts'
import { OwnVersions } from './own-versions.ts'

/**
 * Converts a controller of objects to a controller of keys, which can be run. Its sources are the kind, the owned kinds
 * and the watched kinds. Its reconciler reads the object, manages finalizer, children and status, and calls `reconcile`
 * or `cleanup`.
 */
export function objectController(controller: Controller): KeyController {
  const { name, kind, concurrency, rateLimiter, timeout, syncTimeout, needsLeader, debounce, minInterval } = controller
  const owns = ownedKindsInUse(controller.owns)
  // One for each run: sources and reconciler of a run are started with the same parts.
  const runs = new WeakMap<ControllerParts, OwnVersions>()
  const ownVersions = (parts: ControllerParts): OwnVersions | undefined => {
    if (controller.reconcileOwnWrites) return undefined
    const own = runs.get(parts) ?? new OwnVersions()
    runs.set(parts, own)
    return own
  }
  const { predicates, priority } = controller
  const sources: Source[] = [
    filteredKindSource(kind, { predicates, scope: scopeOf(controller), priority }, ownVersions),
  ]
  for (const { options, watched } of owns.values()) {
    const { predicates, optional, everyOwner } = options
    const map = forOwner(kind, { everyOwner })
    // Children are in the namespaces of their owners.
    const namespaces = options.namespaces ?? (kind.scope === 'Namespaced' ? controller.namespaces : undefined)
    const scope = scopeOf({ selector: options.selector, namespaces })
    sources.push(kindSource(watched, { map, predicates, optional, scope, name: `${watched.kind} (owned)` }))
  }
  for (const watched of controller.watches) sources.push(watchSource(watched, controller))
  sources.push(...controller.sources)
  // Replaced by `start` below: the reconciler needs the parts of the run.
  const reconcile = (): void => undefined
  const keyController = defineKeyController({
    name,
    kind,
    sources,
    concurrency,
    syncTimeout,
    needsLeader,
    clusters: controller.clusters,
    reconcile,
    rateLimiter,
    debounce,
    minInterval,
    timeout,
    hangAfter: controller.hangAfter,
    hotLoop: controller.hotLoop,
  })
  return Object.freeze({
    ...keyController,
    start: (parts: ControllerParts) => new ObjectReconciler(controller, owns, parts, ownVersions(parts)).reconcile,
  })
}

function watchSource(watched: Watch, { kind: owner, selector }: Controller): Source {
  const { predicates, optional } = watched
  const kind = watched.metadataOnly ? metadataOnly(watched.kind) : watched.kind
  const map: KeyMapping = (object, context) => {
    // The object has the type of the watched kind.
    const keys = watched.toOwners(object as never, { ...context, selector })
    return keys instanceof Promise ? keys.then((found) => texts(found, object, owner)) : texts(keys, object, owner)
  }
  return kindSource(kind, { map, predicates, optional, scope: scopeOf(watched), name: `${kind.kind} (watched)` })
}

/** A key without a namespace refers to the namespace of the object that was mapped. */
function texts(keys: Iterable<Key>, object: KubeObject, owner: AnyKind): string[] {
  return Array.from(keys, (key) => {
    const { name, namespace = object.metadata.namespace } = toNameAndNamespace(key)
    return owner.scope === 'Cluster' ? name : formatKey(name, namespace)
  })
}

function scopeOf(scope: {
  readonly selector: string | undefined
  readonly namespaces: readonly string[] | undefined
}): CacheScope {
  return { labelSelector: scope.selector, namespaces: scope.namespaces }
}
