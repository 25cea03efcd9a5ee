import { textDiff } from '../text/text-lines.ts'
import type { AppliedObject } from './apply-objects.ts'
import { changeText } from './installed-object.ts'
import { visibleYaml } from './visible-yaml.ts'

/** What applying an object would change, as a diff for people; empty when it would change nothing. */
export function showDifference({ change, before, after }: AppliedObject): string[] {
  const lines = textDiff(before === undefined ? '' : visibleYaml(before), visibleYaml(after))
  if (lines.length === 0) return []
  return [`# ${changeText(change, ' (dry run)')}`, ...lines]
}
