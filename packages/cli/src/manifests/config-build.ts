import { posix } from 'node:path'
import { isJsonObject } from '@kubewright/base'
import { type BuiltObject, buildKustomization } from '../kustomize/build-kustomization.ts'
import type { Kustomization, TextSource } from '../kustomize/kustomization.ts'
import type { Manifest } from './manifest.ts'

/** An object of config/default, with the file of config/ that contains it. */
export interface ConfigObject {
  readonly object: Manifest
  readonly file: string
}

/** Changes of the kustomizations, with which another variant of config/default is built. */
export interface ConfigVariant {
  /** Replaces the namespace of config/default. */
  readonly namespace?: string | undefined
  /** Removes the entries of kustomizations whose path, such as `config/webhook`, matches. */
  readonly without?: readonly RegExp[] | undefined
  /** Adds entries to lists of kustomizations that do not have them. */
  readonly with?: readonly ConfigEntry[] | undefined
}

/** An entry of a list of a kustomization. */
export interface ConfigEntry {
  /** The folder of the kustomization. */
  readonly folder: string
  readonly list: 'components' | 'patches' | 'resources'
  readonly path: string
  /** The target of a patch. */
  readonly target?: object | undefined
}

/** Builds config/default from the texts of config/, in an order in which the objects can be applied. */
export function buildConfig(texts: TextSource, variant: ConfigVariant = {}): ConfigObject[] {
  const built = buildKustomization(texts, 'config/default', {
    edit: (folder, fields) => edited(folder, fields, variant),
  })
  return inOrder(built)
}

/** Sorts objects for applying: namespaces and CRDs before objects that need them, webhooks last because the API server calls them at once. */
function inOrder(built: readonly BuiltObject[]): ConfigObject[] {
  const rank = ({ object: { kind } }: BuiltObject): number => {
    const name = String(kind)
    if (name === 'Namespace') return 0
    if (name === 'CustomResourceDefinition') return 1
    if (name === 'ServiceAccount') return 2
    if (/Role(Binding)?$/.test(name)) return 3
    return /WebhookConfiguration$/.test(name) ? 5 : 4
  }
  // The builder has checked that each object has apiVersion, kind and metadata.name.
  return [...built].sort((a, b) => rank(a) - rank(b)) as unknown as ConfigObject[]
}

const lists = ['components', 'patches', 'resources', 'transformers'] as const

function edited(
  folder: string,
  fields: Kustomization,
  { namespace, without = [], with: added = [] }: ConfigVariant,
): Kustomization {
  const result: Record<string, unknown> = { ...fields }
  const pathOf = (entry: unknown): string => {
    const path = isJsonObject(entry) ? entry['path'] : entry
    return typeof path === 'string' ? posix.join(folder, path) : ''
  }
  for (const list of lists) {
    const entries = result[list]
    const own = added.filter((entry) => entry.folder === folder && entry.list === list)
    if (!Array.isArray(entries) && own.length === 0) continue
    const kept = (Array.isArray(entries) ? entries : []).filter(
      (entry: unknown) => !without.some((pattern) => pattern.test(pathOf(entry))),
    )
    for (const { path, target } of own) {
      const entry = list === 'patches' ? { path, ...(target === undefined ? {} : { target }) } : path
      if (!kept.some((one: unknown) => pathOf(one) === pathOf(entry))) kept.push(entry)
    }
    result[list] = kept
  }
  if (folder === 'config/default' && namespace !== undefined) result['namespace'] = namespace
  return result
}
