import type { FormSchema } from '../../src/wire/form-schema.ts'
import type { Conflict } from '../../src/wire/messages.ts'

/** Values of a form are never changed in place. */
type Fields = Readonly<Record<string, unknown>>

export const isRecord = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A copy with another value of one field; undefined removes it. */
export function withField(value: unknown, name: string, changed: unknown): Fields {
  const fields = Object.entries(isRecord(value) ? value : {})
  if (changed === undefined) return Object.fromEntries(fields.filter(([field]) => field !== name))
  return { ...Object.fromEntries(fields), [name]: changed }
}

/** A copy with another item; undefined removes it. */
export function withItem(list: readonly unknown[], index: number, changed: unknown): readonly unknown[] {
  return changed === undefined ? list.toSpliced(index, 1) : list.with(index, changed)
}

/** The value of a section that was just added. */
export function emptyValue({ type }: FormSchema): unknown {
  return type === 'list' ? [] : type === 'object' || type === 'map' ? {} : ''
}

/** The errors of one field. */
export function errorsAt(errors: readonly Conflict[], path: string): Conflict[] {
  return errors.filter(({ field }) => field === path)
}

/** Whether a field within this one has an error. */
export function errorsBelow(errors: readonly Conflict[], path: string): boolean {
  return errors.some(({ field }) => field.startsWith(`${path}.`) || field.startsWith(`${path}[`))
}
