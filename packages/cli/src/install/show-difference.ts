import { encodeYaml } from '@kubewright/api'
import { unifiedDiff } from '../scaffold/line-diff.ts'
import type { AppliedObject } from './apply-objects.ts'
import { changeText } from './installed-object.ts'

/** What applying an object would change, as a diff for people; empty when it would change nothing. */
export function showDifference({ change, before, after }: AppliedObject): string[] {
  const lines = unifiedDiff(before === undefined ? '' : yaml(before), yaml(after))
  if (lines.length === 0) return []
  return [`# ${changeText(change, ' (dry run)')}`, ...lines]
}

const noise = ['managedFields', 'resourceVersion', 'generation', 'creationTimestamp', 'uid', 'selfLink']

/** An object without what the server keeps for itself. */
function yaml(object: object): string {
  const { status: _, metadata, ...rest } = object as { status?: unknown; metadata: Record<string, unknown> }
  const shown = Object.fromEntries(Object.entries(metadata).filter(([field]) => !noise.includes(field)))
  return encodeYaml({ ...rest, metadata: shown })
}
