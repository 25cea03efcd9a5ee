import { encodeYaml } from '@kubewright/api'

const noise = ['managedFields', 'resourceVersion', 'generation', 'creationTimestamp', 'uid', 'selfLink']

/** What people care about of an object, as YAML: without what the server keeps for itself. */
export function visibleYaml(object: object): string {
  const { status: _, metadata, ...rest } = object as { status?: unknown; metadata: Record<string, unknown> }
  const shown = Object.fromEntries(Object.entries(metadata).filter(([field]) => !noise.includes(field)))
  return encodeYaml({ ...rest, metadata: shown })
}
