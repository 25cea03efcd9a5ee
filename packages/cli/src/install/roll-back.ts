import { type AnyKind, extractApplied } from '@kubewright/api'
import { errorText } from '@kubewright/base'
import type { DynamicObject } from '@kubewright/client'
import type { Manifest } from '../manifests/manifest.ts'
import type { AppliedObject } from './apply-objects.ts'
import type { ClusterSession } from './cluster-session.ts'
import { installManager, kindOf } from './installed-object.ts'
import { countObjects } from './remove-objects.ts'

/**
 * Restores the objects that a deployment has changed and deletes those that it has created, the last one first. A CRD that
 * has objects by now is kept, because deleting it would delete them. An object that cannot be restored is reported and
 * does not stop the others. Resolves to the restored objects.
 */
export async function rollBack(session: ClusterSession, applied: readonly AppliedObject[]): Promise<Manifest[]> {
  const restored: Manifest[] = []
  for (const { before, after, change } of applied.toReversed()) {
    if (change.change === 'unchanged') continue
    try {
      if (before === undefined) await removeCreated(session, after as DynamicObject)
      else {
        const earlier = await earlierConfiguration(before, after)
        await session.restore(earlier)
        restored.push(earlier)
      }
    } catch (error) {
      session.note(`${change.kind} ${change.name} cannot be rolled back: ${errorText(error)}`)
    }
  }
  return restored
}

async function removeCreated(session: ClusterSession, object: DynamicObject): Promise<void> {
  const { client, signal } = session
  const kind = await kindOf(client, object, signal)
  if (object.kind === 'CustomResourceDefinition') {
    const { objects } = await countObjects(client, { kind, object }, signal)
    if (objects > 0) return session.keep({ kind, object })
  }
  await session.remove({ kind, object }, { wait: false })
}

const serverFields = ['managedFields', 'resourceVersion', 'generation', 'creationTimestamp', 'uid', 'selfLink']

/** The fields that the last installation had applied; all fields if another tool has created the object. */
async function earlierConfiguration(before: DynamicObject, after: object): Promise<Manifest> {
  const { apiVersion, kind } = after as DynamicObject
  const object = { ...before, apiVersion, kind }
  const applied = extractApplied(object, await schemaOf(apiVersion, kind), installManager)
  if (applied !== undefined) return applied as unknown as Manifest
  const { status: _, metadata, ...fields } = object as DynamicObject & { status?: unknown }
  const kept = Object.entries(metadata).filter(([field]) => !serverFields.includes(field))
  return { ...fields, metadata: Object.fromEntries(kept) } as unknown as Manifest
}

/** The schema of a built-in kind, which has the keys of lists; null for other kinds. */
async function schemaOf(apiVersion: string, kind: string): Promise<AnyKind['schema'] | null> {
  const kinds: Readonly<Record<string, unknown>> = await import('@kubewright/k8s')
  const found = kinds[kind] as AnyKind | undefined
  return found?.apiVersion === apiVersion ? found.schema : null
}
