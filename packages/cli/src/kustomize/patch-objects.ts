import {
  applyJsonPatch,
  applyMergePatch,
  applyStrategicMergePatch,
  decodeJsonPatch,
  parseSelector,
  parseYaml,
} from '@kubewright/api'
import { deepCopy, errorText, isJsonObject, KubewrightError } from '@kubewright/base'
import { defaultRelease } from '@kubewright/k8s/releases'
import type { JSONSchemaProps } from '@kubewright/schema'
import { type Kustomization, loadObjects, parsed, unsupported } from './kustomization.ts'
import { describeId, type MutableObject, type ResourceEntry, type ResourceId } from './resource-entry.ts'

/** A patch of a kustomization. */
export interface PatchSource {
  /** The kustomization, for messages. */
  readonly file: string
  /** The file of the patch, or the kustomization for an inline patch. */
  readonly origin: string
  readonly text: string
  /** Selects the objects; without it, a strategic merge patch names its object itself. */
  readonly target: Kustomization | undefined
  readonly options?: unknown
}

/** Applies a strategic merge patch or a JSON patch. Objects with `$patch: delete` are removed from the list. */
export function applyPatch(entries: ResourceEntry[], source: PatchSource): void {
  const { file, origin, text, target, options } = source
  if (isJsonObject(options) && Object.values(options).includes(true)) throw unsupported(file, 'options of patches')
  const value = parsed(origin, () => parseYaml(firstDocument(text)))
  if (Array.isArray(value)) {
    if (target === undefined)
      throw new KubewrightError('KW_KUSTOMIZE', `${file}: the JSON patch ${origin} needs a target`)
    const operations = parsed(origin, () => decodeJsonPatch(value))
    for (const entry of selected(entries, source)) {
      entry.object = attempt(origin, entry, () => applyJsonPatch(entry.object, operations)) as MutableObject
    }
    return
  }
  const patches = loadPatches(source)
  if (target !== undefined && patches.length > 1)
    throw new KubewrightError(
      'KW_KUSTOMIZE',
      `${file}: ${origin} contains several patches, which cannot have a target: split it`,
    )
  for (const patch of patches) {
    const found = target === undefined ? [named(entries, patch, source)] : selected(entries, source)
    for (const entry of found) merge(entries, entry, patch, origin)
  }
}

function loadPatches({ origin, text, target }: PatchSource): MutableObject[] {
  // With a target, the patch need not name its object.
  if (target === undefined) return loadObjects(origin, text)
  const value = parsed(origin, () => parseYaml(text))
  if (!isJsonObject(value))
    throw new KubewrightError('KW_KUSTOMIZE', `${origin} is neither a strategic merge patch nor a JSON patch`)
  return [value as MutableObject]
}

function firstDocument(text: string): string {
  return text.replace(/^---\n/, '').split(/^---/m)[0]!
}

function merge(entries: ResourceEntry[], entry: ResourceEntry, patch: MutableObject, origin: string): void {
  if (patch['$patch'] === 'delete') {
    entries.splice(entries.indexOf(entry), 1)
    return
  }
  const { id, object: before } = entry
  const schema = defaultRelease.kindFor(id)?.schema
  const { apiVersion: _, kind: __, metadata, ...rest } = patch
  // A patch names its object, and cannot rename it.
  const { name: ___, namespace: ____, ...meta } = isJsonObject(metadata) ? metadata : {}
  const changes = { ...rest, ...(Object.keys(meta).length > 0 ? { metadata: meta } : {}) }
  entry.object = attempt(origin, entry, () => {
    if (schema === undefined) return applyMergePatch(before, changes)
    const after = applyStrategicMergePatch(before, changes, schema)
    return patchedFirst(changes, after, schema) as MutableObject
  })
}

/** Moves the items of a merged list that a patch contains before the others, in the order of the patch, as kustomize does. */
function patchedFirst(patch: unknown, after: unknown, schema: JSONSchemaProps | undefined): unknown {
  if (isJsonObject(patch) && isJsonObject(after)) {
    const fields = Object.entries(after).map(([field, value]) => {
      const of = schema?.properties?.[field] ?? schema?.additionalProperties
      return [field, patchedFirst(patch[field], value, isJsonObject(of) ? (of as JSONSchemaProps) : undefined)]
    })
    return Object.fromEntries(fields)
  }
  const key = schema?.['x-kubernetes-patch-merge-key' as keyof JSONSchemaProps] as string | undefined
  if (key === undefined || !Array.isArray(patch) || !Array.isArray(after)) return after
  const items = schema?.items as JSONSchemaProps | undefined
  const rest = new Set(after.filter(isJsonObject))
  const first = patch.filter(isJsonObject).flatMap((change) => {
    const item = [...rest].find((one) => one[key] === change[key])
    if (item === undefined) return []
    rest.delete(item)
    return [patchedFirst(change, item, items)]
  })
  return [...first, ...rest]
}

function named(entries: readonly ResourceEntry[], patch: MutableObject, { file, origin }: PatchSource): ResourceEntry {
  const { name, namespace } = patch['metadata'] as MutableObject
  const { kind, apiVersion } = patch
  const matches = (id: ResourceId): boolean =>
    id.name === name &&
    id.kind === kind &&
    (id.group === '' ? id.version : `${id.group}/${id.version}`) === apiVersion &&
    placeOf(id.namespace) === placeOf(namespace)
  const found = entries.filter(({ ids }) => ids.some(matches))
  if (found.length === 1) return found[0]!
  const similar = entries.find(({ ids }) => ids.some((id) => id.name === name && id.kind === kind))
  const wanted = `${String(kind)} ${typeof namespace === 'string' ? `${namespace}/` : ''}${String(name)}`
  throw new KubewrightError(
    'KW_KUSTOMIZE',
    found.length > 1
      ? `${file}: the patch ${origin} matches several objects named ${wanted}`
      : `${file}: the patch ${origin} is for ${wanted}, which does not exist${similar === undefined ? '' : `: did you mean ${describeId(similar.id)}?`}`,
  )
}

const placeOf = (namespace: unknown): unknown => (namespace === undefined || namespace === '' ? 'default' : namespace)

function selected(entries: readonly ResourceEntry[], { file, target = {} }: PatchSource): ResourceEntry[] {
  const { labelSelector, annotationSelector, ...parts } = target
  const known = ['group', 'version', 'kind', 'name', 'namespace'] as const
  const unknown = Object.keys(parts).find((part) => !(known as readonly string[]).includes(part))
  if (unknown !== undefined) throw unsupported(file, `target.${unknown} of patches`)
  const patterns = known.flatMap((part) => {
    const text = parts[part]
    return typeof text === 'string' && text !== '' ? [[part, new RegExp(`^(?:${text})$`)] as const] : []
  })
  const selects = (selector: unknown, set: unknown): boolean =>
    typeof selector !== 'string' ||
    parsed(file, () => parseSelector(selector)).matches(isJsonObject(set) ? (set as Record<string, string>) : {})
  return entries.filter(
    ({ ids, metadata }) =>
      ids.some((id) => patterns.every(([part, pattern]) => pattern.test(id[part]))) &&
      selects(labelSelector, metadata['labels']) &&
      selects(annotationSelector, metadata['annotations']),
  )
}

function attempt<T>(origin: string, { id }: ResourceEntry, change: () => T): T {
  try {
    return deepCopy(change()) as T
  } catch (error) {
    throw new KubewrightError(
      'KW_KUSTOMIZE',
      `the patch ${origin} cannot be applied to ${describeId(id)}: ${errorText(error)}`,
      { cause: error },
    )
  }
}
