import type { selectorFrom } from '@kubewright/api'
import type { Loose } from './columns.ts'

/** A label selector as it is stored. */
export type LooseSelector = Loose<StoredSelector> | null | undefined

interface StoredSelector {
  matchLabels: Record<string, string>
  matchExpressions: { key: string; operator: string; values: string[] }[]
}

/** Casts a stored selector to the type that the parser takes. The parser rejects a malformed one. */
export function asSelector(selector: LooseSelector): Parameters<typeof selectorFrom>[0] {
  return selector as Parameters<typeof selectorFrom>[0]
}
