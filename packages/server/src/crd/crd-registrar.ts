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

/** Watches of a resource that changed end this long after, so that they show everything that came before. */
const graceMillis = 1000
/** When to try again to serve what could not be served. */
const retryMillis = 1000
/** What discovery says can be done with resources whose definition is being deleted. */
const lastVerbs = ['delete', 'deletecollection', 'get', 'list', 'watch']

/** What {@link CrdRegistrar} takes besides the parts of the server. */
export interface CrdRegistrarOptions {
  /** Who converts the custom resources of a definition. @default nobody: only the apiVersion changes */
  readonly converterFor?: (crd: Crd) => CustomConverter | undefined
}

/** A definition that is being served. */
interface Installed {
  readonly uid: string | undefined
  readonly spec: Crd['spec']
  readonly acceptedNames: Crd['status']['acceptedNames']
  readonly resources: CustomResources
  readonly end: AbortController
  terminating: boolean
}

/**
 * Serves what the stored definitions of custom resources say, and writes into their status what became of them: names are accepted,
 * definitions established, and removed when their custom resources are gone. Follows the store, so that any number of servers may
 * share one; each serves a definition before it calls it established.
 */
export class CrdRegistrar implements AsyncDisposable {
  readonly #parts: CrdParts
  readonly #options: CrdRegistrarOptions
  readonly #cache: ResourceCache
  readonly #stop = new AbortController()
  /** By key; the revision that was dealt with. */
  readonly #seen = new Map<string, number>()
  readonly #installed = new Map<string, Installed>()
  readonly #finalizing = new Map<string, Promise<void>>()
  /** Definitions that this server wrote and has not seen come back. */
  readonly #written = new Map<string, StoredObject>()
  #running: Promise<void> | undefined

  private constructor(parts: CrdParts, options: CrdRegistrarOptions, cache: ResourceCache) {
    this.#parts = parts
    this.#options = options
    this.#cache = cache
  }

  /** Serves the definitions that are there, and from now on those that come. To be called once definitions themselves are served. */
  static async start(parts: CrdParts, options: CrdRegistrarOptions = {}): Promise<CrdRegistrar> {
    const cache = await parts.registry.feed.cache(crdPrefix)
    const registrar = new CrdRegistrar(parts, options, cache)
    await registrar.#look()
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
      // Asked for before looking, so that nothing is missed in between.
      const changed = this.#cache.changed(signal)
      if (await this.#look()) await changed
      else await this.#parts.clock.sleep(retryMillis, { signal }).catch(() => undefined)
    }
  }

  /**
   * Deals with every definition that changed since the last look. False when one could not be served, which does not keep others from
   * it, nor the server from starting: it has to be tried again.
   */
  async #look(): Promise<boolean> {
    const stored = this.#cache.list(crdPrefix)
    const keys = new Set(stored.map(({ key }) => key))
    let freed = false
    let complete = true
    for (const key of new Set([...this.#seen.keys(), ...this.#installed.keys()])) {
      if (keys.has(key)) continue
      this.#seen.delete(key)
      this.#written.delete(key)
      this.#uninstall(key)
      freed = true
    }
    for (const object of stored) {
      const known = this.#seen.get(object.key) === object.revision
      if (known && !freed) continue
      const { names, acceptedNames } = { ...asCrd(object.object).spec, ...asCrd(object.object).status }
      const accepted = deepEqual(names, acceptedNames)
      // Names that were taken may have become free.
      if (known && accepted) continue
      if (this.#stop.signal.aborted) return true
      try {
        await this.#sync(object)
        this.#seen.set(object.key, object.revision)
        // Only a definition that had names can have given some up.
        if (!accepted && acceptedNames?.plural) freed = true
      } catch (error) {
        if (this.#stop.signal.aborted) return true
        this.#parts.log.error(error, 'Cannot serve a custom resource definition; trying again', { key: object.key })
        complete = false
      }
    }
    return complete
  }

  /** Takes one definition as far as it gets: each step may write, and the next goes on from what was written. */
  async #sync(found: StoredObject): Promise<void> {
    let stored = this.#newest(found)
    for (const step of [this.#acceptNames, this.#approve, this.#establish]) {
      this.#serve(stored)
      const change = step(asCrd(stored.object), stored)
      if (!change) continue
      await this.#prepare(stored.key)
      const written = await writeCrd(this.#parts, stored, change)
      if (!written) return
      this.#written.set(stored.key, written)
      stored = written
    }
    this.#serve(stored)
    this.#finalize(stored)
  }

  /** Follows the custom resources before anybody knows of them, so that watches can go on from their first versions. */
  async #prepare(key: string): Promise<void> {
    const installed = this.#installed.get(key)
    if (installed) await this.#parts.registry.feed.cache(installed.resources.stored.storage.prefix)
  }

  /** The definition as this server last wrote it, if that has not come back yet. */
  #newest(found: StoredObject): StoredObject {
    const written = this.#written.get(found.key)
    if (written && written.revision > found.revision) return written
    this.#written.delete(found.key)
    return found
  }

  readonly #acceptNames = (crd: Crd, stored: StoredObject): ((crd: Crd) => void) | undefined => {
    if (deepEqual(crd.spec.names, crd.status?.acceptedNames)) return undefined
    const group = this.#cache
      .list(crdPrefix)
      .map((other) => asCrd((other.key === stored.key ? stored : this.#newest(other)).object))
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

  /** Has the table of resources say what the definition says. */
  #serve({ key, object }: StoredObject): void {
    const crd = asCrd(object)
    if (!isCrdCondition(crd, 'NamesAccepted') && !isCrdCondition(crd, 'Established')) {
      this.#uninstall(key)
      return
    }
    const { uid } = crd.metadata
    const { acceptedNames } = crd.status
    let installed = this.#installed.get(key)
    const same =
      installed?.uid === uid &&
      deepEqual(installed?.spec, crd.spec) &&
      deepEqual(installed?.acceptedNames, acceptedNames)
    if (!installed || !same) {
      const end = new AbortController()
      const converter = this.#options.converterFor?.(crd)
      const resources = customResources(crd, { ended: end.signal, converter })
      if (installed) this.#withdraw(installed, new Set(resources.served.map(({ kind }) => kind.version)))
      installed = { uid, spec: crd.spec, acceptedNames, resources, end, terminating: false }
      this.#installed.set(key, installed)
      for (const resource of resources.served) this.#set(resource)
    }
    const terminating = isCrdCondition(crd, 'Terminating')
    if (installed.terminating !== terminating) {
      // A definition that somebody else's finalizer keeps is open again once its custom resources are gone.
      installed.terminating = terminating
      for (const resource of installed.resources.served) {
        this.#set(terminating ? { ...resource, serving: { ...resource.serving, listedVerbs: lastVerbs } } : resource)
      }
    }
  }

  /** Built-in resources come first: a definition of the same name is not served. */
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

  /** Frees the memory of objects that nobody can ask for, unless the definition came back or a built-in resource has them, too. */
  #forget(key: string, { resources }: Installed): void {
    const { prefix } = resources.stored.storage
    const builtin = this.#parts.resources.all().some(({ storage }) => storage.prefix === prefix)
    if (!this.#installed.has(key) && !builtin) this.#parts.registry.feed.forget(prefix)
  }

  /** Takes resources out of the table, except for versions that others take the place of, and ends their watches. */
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
        if (!this.#stop.signal.aborted) this.#parts.log.error(error, 'Cannot remove custom resources', { name })
      })
      .finally(() => this.#finalizing.delete(key))
    this.#finalizing.set(key, work)
  }
}

/** Rejects new custom resources while their definition is being deleted. */
export const terminatingDefinitions: AdmissionPlugin = {
  name: 'CustomResourceDefinitionTerminating',
  mutate: async ({ operation, resource, name }: AdmissionAttributes): Promise<void> => {
    if (operation !== 'CREATE' || resource.origin !== customOrigin || resource.serving.listedVerbs !== lastVerbs) return
    const why = 'create not allowed while custom resource definition is terminating'
    throw newForbidden({ group: resource.kind.group, resource: resource.kind.plural }, name, why)
  },
}
