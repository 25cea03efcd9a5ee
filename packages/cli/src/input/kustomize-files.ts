import { parseYaml } from '@kubewright/api'
import { isRecord } from '../text/is-record.ts'

/** Whether kustomize takes a file of this name for what a folder is built from. */
export function isKustomizationFile(name: string): boolean {
  return name === 'kustomization.yaml' || name === 'kustomization.yml' || name === 'Kustomization'
}

/**
 * The files that a kustomization names for itself: its configuration, and patches, which look like objects and are parts of some. What
 * is named as resources is not among them. Empty for a text that cannot be read.
 */
export function filesOfKustomize(text: string): readonly string[] {
  let found: unknown
  try {
    found = parseYaml(text)
  } catch {
    return []
  }
  if (!isRecord(found)) return []
  return lists.flatMap((list) => {
    const entries = found[list]
    return Array.isArray(entries) ? entries.flatMap(fileOf) : []
  })
}

const lists = [
  'configurations',
  'generators',
  'patches',
  'patchesJson6902',
  'patchesStrategicMerge',
  'replacements',
  'transformers',
  'validators',
] as const

function fileOf(entry: unknown): string[] {
  const file = isRecord(entry) ? entry['path'] : entry
  // A patch can also be written out where it is named.
  return typeof file === 'string' && !file.includes('\n') ? [file] : []
}
