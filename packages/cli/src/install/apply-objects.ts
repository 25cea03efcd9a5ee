import { isNotFound } from '@kubewright/api'
import { type ApiClient, type DynamicObject, NoMatchError } from '@kubewright/client'
import type { Manifest } from '../manifests/manifest.ts'
import {
  changeOf,
  installLabel,
  installManager,
  keyOf,
  kindOf,
  labelled,
  type ObjectChange,
} from './installed-object.ts'
import { visibleYaml } from './visible-yaml.ts'

/** An object before and after it is applied. */
export interface AppliedObject {
  readonly change: ObjectChange
  readonly before: DynamicObject | undefined
  readonly after: DynamicObject | Manifest
}

/** What {@link applyObject} takes besides the object. */
export interface ApplyObjectOptions {
  readonly client: ApiClient
  /** The name of the operator that the object belongs to. */
  readonly operator: string
  /** Has the server do everything but the write. @default false */
  readonly dryRun?: boolean | undefined
  readonly signal: AbortSignal
}

/** Has the server make an object what it should be. A namespace that somebody else made is used as it is. */
export async function applyObject(object: Manifest, options: ApplyObjectOptions): Promise<AppliedObject> {
  const { client, operator, dryRun = false, signal } = options
  const draft = labelled(object, operator)
  const kind = await servedKind(object, options)
  // On a dry run the definitions of other objects may still be missing.
  if (kind === undefined) return { change: changeOf(draft, 'created'), before: undefined, after: draft }
  const before = await client.find(kind, keyOf(draft), { signal })
  if (before !== undefined && object.kind === 'Namespace' && before.metadata.labels?.[installLabel] !== operator) {
    return { change: changeOf(draft, 'unchanged'), before, after: before }
  }
  try {
    const applied = await client.apply(draft as never, { force: true, fieldManager: installManager, dryRun, signal })
    const after = applied as unknown as DynamicObject
    return { change: changeOf(draft, changeBetween(before, after)), before, after }
  } catch (error) {
    // The namespace would be there by now.
    if (dryRun && before === undefined && isNotFound(error)) {
      return { change: changeOf(draft, 'created'), before, after: draft }
    }
    throw error
  }
}

async function servedKind(object: Manifest, { client, dryRun, signal }: ApplyObjectOptions) {
  try {
    return await kindOf(client, object, signal)
  } catch (error) {
    if (!(error instanceof NoMatchError)) throw error
    if (dryRun) return undefined
    throw new Error(
      `${object.kind} ${object.metadata.name} cannot be applied: the cluster does not know ${object.kind} of ${object.apiVersion}. ${cure(object)}`,
      { cause: error },
    )
  }
}

function cure({ apiVersion }: Manifest): string {
  if (apiVersion.startsWith('monitoring.coreos.com/'))
    return 'Install the operator of Prometheus, or leave --prometheus out'
  if (apiVersion.startsWith('cert-manager.io/')) return 'Install cert-manager, or leave --cert-manager out'
  return 'Install what defines it first'
}

function changeBetween(before: DynamicObject | undefined, after: DynamicObject): ObjectChange['change'] {
  if (before === undefined) return 'created'
  // A dry run leaves the version as it was.
  const isSame = before.metadata.resourceVersion === after.metadata.resourceVersion
  return isSame && visibleYaml(before) === visibleYaml(after) ? 'unchanged' : 'configured'
}
