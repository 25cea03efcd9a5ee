import type { selectorFrom } from '@kubewright/api'
import type { Loose } from '../columns.ts'

/** A label selector as it is stored. */
export type LooseSelector = Loose<StoredSelector> | null | undefined

interface StoredSelector {
  matchLabels: Record<string, string>
  matchExpressions: { key: string; operator: string; values: string[] }[]
}

/** A stored selector as one that can be read: what is malformed fails when it is. */
export function asSelector(selector: LooseSelector): Parameters<typeof selectorFrom>[0] {
  return selector as Parameters<typeof selectorFrom>[0]
}
