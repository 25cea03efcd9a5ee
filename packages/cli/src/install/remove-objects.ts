import { isNotFound } from '@kubewright/api'
import { formatDuration, KubewrightError, withDeadline } from '@kubewright/base'
import { type ApiClient, allNamespaces, type DynamicKind, type DynamicObject, dynamicKind } from '@kubewright/client'
import type { InstalledObject } from './find-installed.ts'
import { changeOf, keyOf, type ObjectChange } from './installed-object.ts'
import type { WaitOptions } from './wait-for-rollout.ts'
import { watchUntil } from './watch-until.ts'

/** The options of {@link removeObject}. */
export interface RemoveOptions extends WaitOptions {
  /** Whether to wait until the objects are gone. */
  readonly wait: boolean
  /** Completes the error if the object is not gone in time. */
  readonly fix?: string | undefined
}

/** Deletes an object, and waits until it is gone. */
export async function removeObject({ kind, object }: InstalledObject, options: RemoveOptions): Promise<ObjectChange> {
  const { client, clock, timeout, signal, wait, onWait } = options
  const key = keyOf(object)
  try {
    await client.delete(kind, key, { preconditions: { uid: object.metadata.uid }, signal })
  } catch (error) {
    if (!isNotFound(error)) throw error
  }
  if (wait) {
    const { uid } = object.metadata
    const what = `${object.kind} ${key.name}`
    let state = ''
    const isGone = (found: DynamicObject | undefined): boolean => {
      if (found === undefined || found.metadata.uid !== uid) return true
      const { finalizers = [] } = found.metadata
      const next = `Waiting for the deletion of ${what}${heldBy(finalizers)}`
      // Most objects are gone after a moment: only finalizers are worth a line.
      if (next !== state && finalizers.length > 0) onWait(next)
      state = next
      return false
    }
    const work = (inner: AbortSignal) => watchUntil(client, kind, { ...key, signal: inner }, isGone)
    try {
      await withDeadline(clock, timeout, `the deletion of ${what}`, work, { signal })
    } catch (error) {
      if (!(error instanceof KubewrightError) || error.code !== 'KW_DEADLINE_EXCEEDED') throw error
      throw new KubewrightError('KW_DEPLOY', await stuckText({ kind, object }, options), { cause: error })
    }
  }
  return changeOf(object, 'deleted')
}

async function stuckText({ kind, object }: InstalledObject, options: RemoveOptions): Promise<string> {
  const { client, timeout, fix = 'check its finalizers' } = options
  const left = await client.find(kind, keyOf(object))
  const why = heldBy(left?.metadata.finalizers ?? [])
  return `${object.kind} ${object.metadata.name} still exists after ${formatDuration(timeout)}${why}: ${fix}`
}

function heldBy(finalizers: readonly string[]): string {
  return finalizers.length === 0 ? '' : `, held by the finalizers ${finalizers.join(', ')}`
}

/** A CRD with the number of its objects. */
export interface CountedDefinition extends InstalledObject {
  readonly objects: number
  /** The kind of the objects, in the storage version. */
  readonly of: DynamicKind
}

interface DefinitionSpec {
  readonly group: string
  readonly scope: 'Namespaced' | 'Cluster'
  readonly names: { readonly kind: string; readonly plural: string }
  readonly versions: readonly { readonly name: string; readonly storage: boolean; readonly served: boolean }[]
}

/** Counts the objects of a CRD. */
export async function countObjects(
  client: ApiClient,
  definition: InstalledObject,
  signal: AbortSignal,
): Promise<CountedDefinition> {
  // The server has validated it.
  const { group, scope, names, versions } = definition.object['spec'] as DefinitionSpec
  const version = versions.find(({ storage, served }) => storage && served) ?? versions.find(({ served }) => served)
  const of = dynamicKind({ group, version: version?.name ?? 'v1', scope, ...names })
  let objects = 0
  try {
    for await (const page of client.pages(of, { namespace: allNamespaces, pageSize: 1, signal })) {
      objects = page.items.length + (page.remaining ?? 0)
      break
    }
  } catch (error) {
    // The CRD is not served, so its objects cannot be counted.
    if (!isNotFound(error)) throw error
  }
  return { ...definition, of, objects }
}

/** All objects of a CRD. */
export async function objectsOf(
  client: ApiClient,
  { of, objects }: CountedDefinition,
  signal: AbortSignal,
): Promise<InstalledObject[]> {
  if (objects === 0) return []
  const list = await client.list(of, { namespace: allNamespaces, signal })
  const { apiVersion, kind } = of
  return list.map((object) => ({ kind: of, object: { ...object, apiVersion, kind } }))
}
