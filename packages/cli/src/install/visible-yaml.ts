import { encodeYaml } from '@kubewright/api'

const noise = ['managedFields', 'resourceVersion', 'generation', 'creationTimestamp', 'uid', 'selfLink']

/** An object as YAML, without status and the metadata that the server maintains. */
export function visibleYaml(object: object): string {
  const { status: _, metadata, ...rest } = object as { status?: unknown; metadata: Record<string, unknown> }
  const shown = Object.fromEntries(Object.entries(metadata).filter(([field]) => !noise.includes(field)))
  return encodeYaml({ ...rest, metadata: shown })
}
