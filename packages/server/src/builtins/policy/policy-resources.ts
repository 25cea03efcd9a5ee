import type { BuiltinTable } from '../builtin-resources.ts'
import { podDisruptionBudgets } from './pod-disruption-budget/pod-disruption-budget.ts'

/** The resources of the policy group. */
export const policyResources: BuiltinTable = { 'policy/poddisruptionbudgets': podDisruptionBudgets }
