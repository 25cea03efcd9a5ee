import type { ReconcileView } from '../../src/wire/operator-view.ts'
import { useTopic } from './use-topic.ts'

/** The last reconciles of all operators. */
export function useReconciles(): readonly ReconcileView[] {
  return useTopic({ type: 'operators' })?.operators.flatMap(({ reconciles }) => reconciles) ?? []
}
