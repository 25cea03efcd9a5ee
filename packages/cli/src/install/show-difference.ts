import { textDiff } from '../text/text-lines.ts'
import type { AppliedObject } from './apply-objects.ts'
import { changeText } from './installed-object.ts'
import { visibleYaml } from './visible-yaml.ts'

/** The change of an applied object as a diff; empty if it does not change. */
export function showDifference({ change, before, after }: AppliedObject): string[] {
  const lines = textDiff(before === undefined ? '' : visibleYaml(before), visibleYaml(after))
  if (lines.length === 0) return []
  return [`# ${changeText(change, ' (dry run)')}`, ...lines]
}
