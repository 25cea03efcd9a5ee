import { posix } from 'node:path'
import { parseManifests, parseYaml } from '@kubewright/api'
import { errorText, isJsonObject, KubewrightError } from '@kubewright/base'
import type { MutableObject } from './resource-entry.ts'

/** The texts of files by path, with `/` between folders. A Map is one. */
export interface TextSource {
  readonly get: (path: string) => string | undefined
}

/** The fields of a kustomization, as parsed. */
export type Kustomization = Readonly<Record<string, unknown>>

/** A kustomization with its place. */
export interface LoadedKustomization {
  /** The path of its file. */
  readonly file: string
  readonly folder: string
  readonly fields: Kustomization
}

const names = ['kustomization.yaml', 'kustomization.yml', 'Kustomization'] as const

const supported: ReadonlySet<string> = new Set([
  'apiVersion',
  'commonAnnotations',
  'commonLabels',
  'components',
  'configMapGenerator',
  'configurations',
  'generatorOptions',
  'images',
  'kind',
  'labels',
  'metadata',
  'namePrefix',
  'nameSuffix',
  'namespace',
  'patches',
  'patchesJson6902',
  'patchesStrategicMerge',
  'replicas',
  'resources',
  'secretGenerator',
  'transformers',
])

/** Reads the kustomization of a folder; undefined if the folder has none. Throws for fields that a build does not support. */
export function loadKustomization(texts: TextSource, folder: string): LoadedKustomization | undefined {
  for (const name of names) {
    const file = posix.join(folder, name)
    const text = texts.get(file)
    if (text === undefined) continue
    const fields = parsed(file, () => parseYaml(text) ?? {})
    if (!isJsonObject(fields))
      throw new KubewrightError('KW_KUSTOMIZE', `${file} must contain fields, such as resources`)
    const unknown = Object.keys(fields).find((field) => !supported.has(field))
    if (unknown !== undefined) throw unsupported(file, `the field ${unknown}`)
    return { file, folder, fields }
  }
  return undefined
}

/** Parses the objects of a file. */
export function loadObjects(file: string, text: string): MutableObject[] {
  return parsed(file, () => parseManifests(text)).flatMap((value) => objectsIn(file, value))
}

function objectsIn(file: string, value: unknown): MutableObject[] {
  if (!isJsonObject(value))
    throw new KubewrightError('KW_KUSTOMIZE', `${file} contains a document that is not an object: correct or remove it`)
  const { apiVersion, kind, items, metadata } = value
  if (typeof kind === 'string' && kind.endsWith('List') && Array.isArray(items)) {
    return items.flatMap((item) => objectsIn(file, item))
  }
  const isComplete = typeof apiVersion === 'string' && typeof kind === 'string' && isJsonObject(metadata)
  if (!isComplete || typeof metadata['name'] !== 'string') {
    throw new KubewrightError(
      'KW_KUSTOMIZE',
      `${file} contains an object without apiVersion, kind or metadata.name: add the missing field`,
    )
  }
  return [value as MutableObject]
}

/** Parses a text. Errors name the file. */
export function parsed<T>(file: string, parse: () => T): T {
  try {
    return parse()
  } catch (error) {
    throw new KubewrightError('KW_KUSTOMIZE', `${file} is not valid: ${errorText(error)}`, { cause: error })
  }
}

/** The error for a part of kustomize that a build does not support. */
export function unsupported(file: string, part: string): Error {
  const folder = posix.dirname(file)
  return new KubewrightError(
    'KW_KUSTOMIZE',
    `${file}: kubewright does not support ${part} of kustomizations: remove it, or build the objects yourself with kubectl kustomize ${folder}`,
  )
}

/** The strings of a list field. Throws if it contains other values. */
export function stringsOf({ file, fields }: LoadedKustomization, field: string): readonly string[] {
  const list = listOf({ file, fields }, field)
  if (!list.every((item) => typeof item === 'string'))
    throw new KubewrightError('KW_KUSTOMIZE', `${file}: ${field} must be a list of strings`)
  return list
}

/** The objects of a list field. Throws if it contains other values. */
export function recordsOf(loaded: LoadedKustomization, field: string): readonly Kustomization[] {
  const list = listOf(loaded, field)
  if (!list.every(isJsonObject))
    throw new KubewrightError('KW_KUSTOMIZE', `${loaded.file}: ${field} must be a list of objects`)
  return list
}

/** The fields of an object whose values are strings; numbers and booleans are converted. */
export function pairsOf(file: string, field: string, value: unknown): Readonly<Record<string, string>> {
  if (value === undefined || value === null) return {}
  if (!isJsonObject(value)) throw new KubewrightError('KW_KUSTOMIZE', `${file}: ${field} must be an object`)
  return Object.fromEntries(Object.entries(value).map(([name, of]) => [name, String(of)]))
}

function listOf({ file, fields }: Pick<LoadedKustomization, 'file' | 'fields'>, field: string): readonly unknown[] {
  const list = fields[field]
  if (list === undefined || list === null) return []
  if (!Array.isArray(list)) throw new KubewrightError('KW_KUSTOMIZE', `${file}: ${field} must be a list`)
  return list
}
