import { unifiedDiff } from '@kubewright/base'

/** Splits a text into lines. A line break at the end starts no further line. */
export function linesOf(text: string): string[] {
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines
}

/** A unified diff of two texts without file names. Empty for equal texts. */
export function textDiff(before: string, after: string): string[] {
  return unifiedDiff(linesOf(before), linesOf(after))
}
