import type { ChangeView, FieldChange } from '../../src/wire/change-view.ts'
import { text } from './text.ts'

/** A change in one line, such as `Deployment default/web changed: spec.replicas 1 → 2 · kubectl`. */
export function changeText(change: ChangeView): string {
  const { kind, type, fields, moreFields, managers } = change
  const [first] = fields
  const others = fields.length + moreFields - 1
  const what = first === undefined ? '' : `: ${fieldText(first)}${others > 0 ? ` ${text('andMore', others)}` : ''}`
  const writers = managers.length === 0 ? '' : ` · ${managers.join(', ')}`
  return `${kind} ${objectText(change)} ${text(verbs[type])}${what}${writers}`
}

/** The name of the changed object with its namespace. */
export function objectText({ object }: ChangeView): string {
  return object.namespace === undefined ? object.name : `${object.namespace}/${object.name}`
}

/** A changed field, such as `spec.replicas 1 → 2`. */
export function fieldText({ path, before, after }: FieldChange): string {
  return `${path} ${before ?? '∅'} → ${after ?? '∅'}`
}

export const verbs = { ADDED: 'wasCreated', MODIFIED: 'wasChanged', DELETED: 'wasDeleted' } as const
export const tones = { ADDED: 'good', MODIFIED: 'busy', DELETED: 'bad' } as const
