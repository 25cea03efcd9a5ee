import { isNotFound } from '@kubewright/api'
import { KubewrightError } from '@kubewright/base'
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

/** The options of {@link applyObject}. */
export interface ApplyObjectOptions {
  readonly client: ApiClient
  /** The name of the operator that the object belongs to. */
  readonly operator: string
  /** Lets the server process the request without persisting it. @default false */
  readonly dryRun?: boolean | undefined
  readonly signal: AbortSignal
}

/** Applies an object on the server. A namespace that no installation of the operator created is used unchanged. */
export async function applyObject(object: Manifest, options: ApplyObjectOptions): Promise<AppliedObject> {
  const { client, operator, dryRun = false, signal } = options
  const draft = labelled(object, operator)
  const kind = await servedKind(object, options)
  // On a dry run the CRD of the object may not exist yet.
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
    // Without the dry run, the namespace would exist by now.
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
    throw new KubewrightError(
      'KW_DEPLOY',
      `${object.kind} ${object.metadata.name} cannot be applied: the cluster does not serve ${object.kind} of ${object.apiVersion}. ${fix(object)}`,
      { cause: error },
    )
  }
}

function fix({ apiVersion }: Manifest): string {
  if (apiVersion.startsWith('monitoring.coreos.com/'))
    return 'Install the Prometheus operator, or run kubewright generate --no-prometheus'
  if (apiVersion.startsWith('cert-manager.io/'))
    return 'Install cert-manager, or run kubewright generate --no-cert-manager'
  return 'Install its CRD first'
}

function changeBetween(before: DynamicObject | undefined, after: DynamicObject): ObjectChange['change'] {
  if (before === undefined) return 'created'
  // A dry run does not change the resource version.
  const isSame = before.metadata.resourceVersion === after.metadata.resourceVersion
  return isSame && visibleYaml(before) === visibleYaml(after) ? 'unchanged' : 'configured'
}
