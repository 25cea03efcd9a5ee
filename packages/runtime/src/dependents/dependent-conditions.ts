import { type AnyKind, type ConditionDraft, condition, conditionTypesOf } from '@kubewright/api'
import { errorText } from '@kubewright/base'
import type { DependentState } from './dependents-run.ts'

/** The type of the condition of a dependent: `UserDatabaseReady` for `user-database`. */
export const conditionTypeOf = (name: string): string =>
  `${name.replace(/(?:^|-)([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())}Ready`

/**
 * The conditions of the dependents, and the condition `Ready` of all of them. A kind that declares the types of its
 * conditions gets only those; a kind without conditions gets none. Dependents that are not wanted have no condition.
 */
export function dependentConditions(kind: AnyKind, states: ReadonlyMap<string, DependentState>): ConditionDraft[] {
  const schema = kind.schema.properties?.['status']?.properties?.['conditions']
  if (schema === undefined) return []
  const declared = conditionTypesOf(schema)
  const wanted = [...states].filter(([, { state }]) => state !== 'unwanted')
  const each = wanted.map(([name, state]) => conditionFor(conditionTypeOf(name), state))
  return [...each, overallCondition(wanted)].filter(({ type }) => declared?.includes(type) ?? true)
}

function conditionFor(type: string, state: DependentState): ConditionDraft {
  switch (state.state) {
    case 'ready':
      return condition(type, true, 'Ready', `${nameOf(state.live)} is ready`)
    case 'progressing':
      return condition(type, false, 'Progressing', `${nameOf(state.live)} is not ready yet`)
    case 'waiting':
      return condition(type, false, 'Waiting', `waiting for ${state.for.join(', ')}`)
    case 'failed':
      return condition(type, false, 'Failed', errorText(state.error))
    case 'unwanted':
      return condition(type, false, 'Unwanted')
  }
}

function overallCondition(wanted: readonly (readonly [string, DependentState])[]): ConditionDraft {
  const named = (...states: DependentState['state'][]) =>
    wanted.filter(([, { state }]) => states.includes(state)).map(([name]) => name)
  const failed = named('failed')
  if (failed.length > 0) return condition('Ready', false, 'Failed', `cannot apply ${failed.join(', ')}`)
  const pending = named('progressing', 'waiting')
  if (pending.length > 0) return condition('Ready', false, 'Progressing', `not ready yet: ${pending.join(', ')}`)
  return condition('Ready', true, 'Ready', 'all dependents are ready')
}

const nameOf = ({
  kind,
  metadata,
}: {
  readonly kind?: string | undefined
  readonly metadata: { readonly name: string }
}): string => `${kind ?? 'object'} ${metadata.name}`
