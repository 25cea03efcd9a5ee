import { useMemo } from 'preact/hooks'
import type { ReconcileView } from '../../src/wire/operator-view.ts'
import { useTopic } from './use-topic.ts'

/** The last reconciles of all operators. */
export function useReconciles(): readonly ReconcileView[] {
  const operators = useTopic({ type: 'operators' })?.operators
  return useMemo(() => operators?.flatMap(({ reconciles }) => reconciles) ?? [], [operators])
}
