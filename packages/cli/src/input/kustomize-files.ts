import { parseYaml } from '@kubewright/api'
import { isJsonObject } from '@kubewright/base'

/** Whether a file of this name is the kustomization of its folder. */
export function isKustomizationFile(name: string): boolean {
  return name === 'kustomization.yaml' || name === 'kustomization.yml' || name === 'Kustomization'
}

/**
 * The files that a kustomization uses itself: its configuration and its patches, which look like objects but are incomplete. Its resources
 * are not among them. Empty for a text that is not valid YAML.
 */
export function filesOfKustomize(text: string): readonly string[] {
  let found: unknown
  try {
    found = parseYaml(text)
  } catch {
    return []
  }
  if (!isJsonObject(found)) return []
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
  const file = isJsonObject(entry) ? entry['path'] : entry
  // A patch can also be inline.
  return typeof file === 'string' && !file.includes('\n') ? [file] : []
}
