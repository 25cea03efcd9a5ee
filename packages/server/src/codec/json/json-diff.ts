import { unifiedDiff } from '@kubewright/base'
import { escapeHtml } from './go-value.ts'

/** The difference of two values as kube-apiserver prints it: a unified diff of their indented JSON without file names. */
export function jsonDiff(before: unknown, after: unknown): string {
  return unifiedDiff(jsonLines(before), jsonLines(after))
    .map((line) => `${line}\n`)
    .join('')
}

function jsonLines(value: unknown): string[] {
  return escapeHtml(JSON.stringify(value, undefined, ' ')).split('\n')
}
