import type { MutableObject } from '../../resource/object.ts'
import { semanticEqual } from '../../resource/semantic-equal.ts'

/**
 * Increments metadata.generation if the spec differs from the stored one. For `prepareForUpdate` of kinds whose generation also counts changes
 * that are not stored, such as disabled fields and empty lists; such a kind has `generation: () => false`.
 */
export function countSentChange(object: MutableObject, old: MutableObject): void {
  if (!semanticEqual(object['spec'], old['spec'])) object.metadata.generation = (old.metadata.generation ?? 0) + 1
}
