import { newForbidden } from '@kubewright/api'
import { deepEqual } from '@kubewright/base'
import type { AdmissionAttributes, AdmissionPlugin } from '../admission/admission.ts'
import type { ResourceCache } from '../cache/resource-cache.ts'
import { builtinOrigin, customOrigin } from '../resource/origin.ts'
import type { StoredObject } from '../resource/stored-object.ts'
import { finalizeCrd } from './crd-finalizer.ts'
import { type CrdParts, writeCrd } from './crd-writer.ts'
import { acceptNames } from './definitions/accept-names.ts'
import { apiApprovalOf, approvalCondition, isProtectedGroup } from './definitions/api-approval.ts'
import { asCrd, type Crd, cleanupFinalizer, crdPrefix } from './definitions/crd.ts'
import { findCrdCondition, isCrdCondition, sameCondition, setCrdCondition } from './definitions/crd-conditions.ts'
import { caBundleProblem } from './definitions/validate-conversion.ts'
import { type CustomResources, customResources } from './resources/custom-resource.ts'
import type { CustomConverter } from './resources/custom-storage.ts'

/** How long watches of a changed resource continue, so that they deliver all earlier events. */
const graceMillis = 1000
/** The delay before a failed CRD is synced again. */
const retryMillis = 1000
/** The verbs in discovery while a CRD is being deleted. */
const lastVerbs = ['delete', 'deletecollection', 'get', 'list', 'watch']

/** Options of {@link CrdRegistrar}. */
export interface CrdRegistrarOptions {
  /** The converter of a CRD. @default conversion changes apiVersion only */
  readonly converterFor?: ((crd: Crd) => CustomConverter | undefined) | undefined
}

/** A served CRD. */
interface Installed {
  readonly uid: string | undefined
  readonly spec: Crd['spec']
  readonly acceptedNames: Crd['status']['acceptedNames']
  readonly resources: CustomResources
  readonly end: AbortController
  established: boolean
  terminating: boolean
}

/**
 * Registers the resources of all stored CRDs in the resource table and maintains the conditions of the CRDs: accepts their
 * names, establishes them, and finalizes those that are deleted. Any number of servers may share a store: each one follows the store,
 * and serves a CRD before it reports it as established. Discovery lists it afterwards, as in kube-apiserver.
 */
export class CrdRegistrar implements AsyncDisposable {
  readonly #parts: CrdParts
  readonly #options: CrdRegistrarOptions
  readonly #cache: ResourceCache
  readonly #stop = new AbortController()
  /** The synced revision of each CRD, by key. */
  readonly #seen = new Map<string, number>()
  readonly #installed = new Map<string, Installed>()
  readonly #finalizing = new Map<string, Promise<void>>()
  /** CRDs that this server has written and that the cache does not contain yet, by key. */
  readonly #written = new Map<string, StoredObject>()
  /** The keys of all CRDs in the cache, by group. */
  readonly #byGroup = new Map<string, Set<string>>()
  /** The events of the cache up to here have been synced; undefined when all CRDs must be synced. */
  #cursor: { readonly at: number; readonly epoch: number } | undefined
  /** Whether a CRD has released names in the last sync. */
  #hasReleased = false
  #running: Promise<void> | undefined

  private constructor(parts: CrdParts, options: CrdRegistrarOptions, cache: ResourceCache) {
    this.#parts = parts
    this.#options = options
    this.#cache = cache
  }

  /** Serves the stored CRDs, and follows changes until disposed. The resource customresourcedefinitions must be registered before. */
  static async start(parts: CrdParts, options: CrdRegistrarOptions = {}): Promise<CrdRegistrar> {
    const cache = await parts.registry.feed.cache(crdPrefix)
    const registrar = new CrdRegistrar(parts, options, cache)
    await registrar.#syncAll()
    registrar.#running = registrar.#follow()
    return registrar
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort()
    await this.#running
    await Promise.all(this.#finalizing.values())
  }

  async #follow(): Promise<void> {
    const { signal } = this.#stop
    while (!signal.aborted) {
      // Before the sync, so that no change in between is missed.
      const changed = this.#cache.changed(signal)
      if (await this.#syncAll()) await changed
      else await this.#parts.clock.sleep(retryMillis, { signal }).catch(() => undefined)
    }
  }

  /**
   * Syncs every CRD that has changed since the last call. Returns false when one failed and must be retried; the failure affects
   * neither the other CRDs nor the start of the server.
   */
  async #syncAll(): Promise<boolean> {
    const changed = this.#changedKeys()
    const cursor = { at: this.#cache.end, epoch: this.#cache.epoch }
    this.#cursor = undefined
    let freed = this.#hasReleased
    this.#hasReleased = false
    let complete = true
    for (const key of changed ?? this.#keysOfAll()) {
      if (this.#cache.get(key)) {
        this.#groupOf(key).add(key)
        continue
      }
      this.#groupOf(key).delete(key)
      this.#seen.delete(key)
      this.#written.delete(key)
      this.#uninstall(key)
      freed = true
    }
    const stored =
      changed === undefined || freed
        ? this.#cache.list(crdPrefix)
        : [...changed].flatMap((key) => this.#cache.get(key) ?? [])
    for (const object of stored) {
      const known = this.#seen.get(object.key) === object.revision
      if (known && !freed) continue
      const { names, acceptedNames } = { ...asCrd(object.object).spec, ...asCrd(object.object).status }
      const accepted = deepEqual(names, acceptedNames)
      // A known CRD is synced again only to claim names that another one has released.
      if (known && accepted) continue
      if (this.#stop.signal.aborted) return true
      try {
        await this.#sync(object)
        this.#seen.set(object.key, object.revision)
        // A CRD that had accepted names may have released some.
        if (!accepted && acceptedNames?.plural) {
          freed = true
          // Only after a change: a CRD whose names stay in use would be synced forever.
          if (!known) this.#hasReleased = true
        }
      } catch (error) {
        if (this.#stop.signal.aborted) return true
        this.#parts.log.error(error, 'Sync of a custom resource definition failed; retrying', { key: object.key })
        complete = false
      }
    }
    if (complete) this.#cursor = cursor
    // The CRDs that have not changed may claim the released names.
    return complete && this.#hasReleased && !this.#stop.signal.aborted ? this.#syncAll() : complete
  }

  /** The keys of the CRDs that have changed since the last sync; undefined when they are unknown. */
  #changedKeys(): Set<string> | undefined {
    const cursor = this.#cursor
    if (cursor === undefined || cursor.epoch !== this.#cache.epoch) return undefined
    const keys = new Set<string>()
    for (let { at } = cursor; at < this.#cache.end; at++) {
      const event = this.#cache.eventAt(at)
      if (event === undefined || event === 'lost') return undefined
      keys.add(event.object.key)
    }
    return keys
  }

  /** The keys of all CRDs that exist, or that this registrar knows. */
  #keysOfAll(): Set<string> {
    const grouped = [...this.#byGroup.values()].flatMap((keys) => [...keys])
    const stored = this.#cache.list(crdPrefix).map(({ key }) => key)
    return new Set([...this.#seen.keys(), ...this.#installed.keys(), ...grouped, ...stored])
  }

  /** The keys of the CRDs of the group of a key. The name of a CRD is its plural name and its group. */
  #groupOf(key: string): Set<string> {
    const group = key.slice(key.indexOf('.', crdPrefix.length) + 1)
    let keys = this.#byGroup.get(group)
    if (keys === undefined) {
      keys = new Set()
      this.#byGroup.set(group, keys)
    }
    return keys
  }

  /** Runs the steps of one CRD. Each step may write the status, and the next one continues with the written object. */
  async #sync(found: StoredObject): Promise<void> {
    let stored = this.#newest(found)
    for (const step of [this.#acceptNames, this.#approve, this.#establish]) {
      this.#serve(stored)
      const change = step(asCrd(stored.object), stored)
      if (!change) continue
      await this.#fillCache(stored.key)
      const written = await writeCrd(this.#parts, stored, change)
      if (!written) return
      this.#written.set(stored.key, written)
      stored = written
    }
    this.#serve(stored)
    this.#finalize(stored)
  }

  /** Fills the cache before clients learn of the resource, so that watches can start at its first resource version. */
  async #fillCache(key: string): Promise<void> {
    const installed = this.#installed.get(key)
    if (installed) await this.#parts.registry.feed.cache(installed.resources.stored.storage.prefix)
  }

  /** The newest known version of a CRD: that in the cache, or the one that this server has just written. */
  #newest(found: StoredObject): StoredObject {
    const written = this.#written.get(found.key)
    if (written && written.revision > found.revision) return written
    this.#written.delete(found.key)
    return found
  }

  readonly #acceptNames = (crd: Crd, stored: StoredObject): ((crd: Crd) => void) | undefined => {
    if (deepEqual(crd.spec.names, crd.status?.acceptedNames)) return undefined
    const group = [...this.#groupOf(stored.key)]
      .flatMap((key) => (key === stored.key ? stored : (this.#cache.get(key) ?? [])))
      .map((other) => asCrd((other === stored ? stored : this.#newest(other)).object))
      .filter(({ spec }) => spec.group === crd.spec.group)
    const verdict = acceptNames(crd, group)
    const sameNames = deepEqual(verdict.acceptedNames, crd.status?.acceptedNames)
    if (sameNames && sameCondition(verdict.namesAccepted, findCrdCondition(crd, 'NamesAccepted'))) return undefined
    const now = this.#parts.clock.now()
    return (next) => {
      next.status.acceptedNames = verdict.acceptedNames
      setCrdCondition(next, verdict.namesAccepted, now)
      setCrdCondition(next, verdict.established, now)
    }
  }

  readonly #approve = (crd: Crd): ((crd: Crd) => void) | undefined => {
    if (!isProtectedGroup(crd.spec.group ?? '')) return undefined
    const condition = approvalCondition(apiApprovalOf(crd.metadata))
    if (sameCondition(condition, findCrdCondition(crd, condition.type))) return undefined
    return (next) => setCrdCondition(next, condition, this.#parts.clock.now())
  }

  readonly #establish = (crd: Crd): ((crd: Crd) => void) | undefined => {
    if (!isCrdCondition(crd, 'NamesAccepted') || isCrdCondition(crd, 'Established')) return undefined
    const unusable = caBundleProblem(crd.spec.conversion?.webhook?.clientConfig?.caBundle) !== undefined
    const condition = unusable
      ? { status: 'False', reason: 'InvalidCABundle', message: 'The conversion webhook CABundle is invalid' }
      : { status: 'True', reason: 'InitialNamesAccepted', message: 'the initial names have been accepted' }
    const full = { type: 'Established' as const, ...condition }
    if (sameCondition(full, findCrdCondition(crd, 'Established'))) return undefined
    return (next) => setCrdCondition(next, full, this.#parts.clock.now())
  }

  /**
   * Updates the resource table to match the CRD. Accepted names suffice to serve its resources; discovery lists them once the
   * CRD is established, so that a client that waits for discovery does not race with that write of the status.
   */
  #serve({ key, object }: StoredObject): void {
    const crd = asCrd(object)
    if (!isCrdCondition(crd, 'NamesAccepted') && !isCrdCondition(crd, 'Established')) {
      this.#uninstall(key)
      return
    }
    const { uid } = crd.metadata
    const { acceptedNames } = crd.status
    const established = isCrdCondition(crd, 'Established')
    const terminating = isCrdCondition(crd, 'Terminating')
    let installed = this.#installed.get(key)
    const same =
      installed?.uid === uid &&
      deepEqual(installed?.spec, crd.spec) &&
      deepEqual(installed?.acceptedNames, acceptedNames)
    if (!installed || !same) {
      const end = new AbortController()
      const converter = this.#options.converterFor?.(crd)
      const resources = customResources(crd, { release: this.#parts.resources.release, ended: end.signal, converter })
      if (installed) this.#withdraw(installed, new Set(resources.served.map(({ kind }) => kind.version)))
      installed = { uid, spec: crd.spec, acceptedNames, resources, end, established, terminating }
      this.#installed.set(key, installed)
    } else if (installed.established === established && installed.terminating === terminating) {
      return
    }
    installed.established = established
    // The condition Terminating becomes false once the custom resources are deleted, even if another finalizer keeps the CRD.
    installed.terminating = terminating
    for (const resource of installed.resources.served) {
      if (established && !terminating) this.#set(resource)
      else {
        const listedVerbs = terminating ? lastVerbs : undefined
        this.#set({ ...resource, serving: { ...resource.serving, listedVerbs, unlisted: !established } })
      }
    }
  }

  /** Registers a resource unless a built-in one has the same name. */
  #set(resource: CustomResources['stored']): void {
    const { resources } = this.#parts
    const { group, version, plural } = resource.kind
    if (resources.find(group, version, plural)?.origin !== builtinOrigin) resources.set(resource)
  }

  #uninstall(key: string): void {
    const installed = this.#installed.get(key)
    if (!installed) return
    this.#installed.delete(key)
    this.#withdraw(installed, new Set(), () => this.#forget(key, installed))
  }

  /** Drops the cache of a removed resource, unless the CRD was created again or a built-in resource shares the objects. */
  #forget(key: string, { resources }: Installed): void {
    const { prefix } = resources.stored.storage
    const builtin = this.#parts.resources.all().some(({ storage }) => storage.prefix === prefix)
    if (!this.#installed.has(key) && !builtin) this.#parts.registry.feed.forget(prefix)
  }

  /** Removes resources from the table, except for versions that are replaced, and ends their watches after a delay. */
  #withdraw({ resources, end }: Installed, replaced: ReadonlySet<string>, ended?: () => void): void {
    const { clock, resources: table } = this.#parts
    for (const { kind } of resources.served) {
      const current = table.find(kind.group, kind.version, kind.plural)
      if (!replaced.has(kind.version) && current && current.origin !== builtinOrigin) {
        table.delete(kind.group, kind.version, kind.plural)
      }
    }
    const finish = (): void => {
      end.abort()
      ended?.()
    }
    clock.setTimer(graceMillis, finish, 'end of custom resource watches')
  }

  #finalize({ key, object }: StoredObject): void {
    const { name = '', deletionTimestamp, finalizers = [] } = object.metadata
    if (deletionTimestamp === undefined || !finalizers.includes(cleanupFinalizer)) return
    if (this.#finalizing.has(key)) return
    const { stored } = this.#installed.get(key)?.resources ?? {}
    const work = finalizeCrd(this.#parts, name, stored, this.#stop.signal)
      .catch((error: unknown) => {
        if (!this.#stop.signal.aborted) this.#parts.log.error(error, 'Deletion of custom resources failed', { name })
      })
      .finally(() => this.#finalizing.delete(key))
    this.#finalizing.set(key, work)
  }
}

/** Rejects new custom resources while their CRD is being deleted. */
export const terminatingDefinitions: AdmissionPlugin = {
  name: 'CustomResourceDefinitionTerminating',
  mutate: ({ operation, resource, name }: AdmissionAttributes): void => {
    if (operation !== 'CREATE' || resource.origin !== customOrigin || resource.serving.listedVerbs !== lastVerbs) return
    const why = 'create not allowed while custom resource definition is terminating'
    throw newForbidden({ group: resource.kind.group, resource: resource.kind.plural }, name, why)
  },
}
