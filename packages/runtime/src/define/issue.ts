/** What a validating webhook has to say about one field. */
export interface Issue<Path extends string = string> {
  readonly level: 'error' | 'warning'
  readonly reason:
    | 'FieldValueInvalid'
    | 'FieldValueForbidden'
    | 'FieldValueDuplicate'
    | 'FieldValueRequired'
    | 'FieldValueNotSupported'
    | 'Warning'
  readonly path: Path
  readonly detail: string
  /** What the field holds, for the message. @default what is found at the path */
  readonly value?: unknown
}

/** The value of the field is wrong. */
export function invalid<const P extends string>(path: P, detail: string, value?: unknown): Issue<P> {
  return { level: 'error', reason: 'FieldValueInvalid', path, detail, value }
}

/** The field may not be set, or not be changed, in this situation. */
export function forbidden<const P extends string>(path: P, detail: string): Issue<P> {
  return { level: 'error', reason: 'FieldValueForbidden', path, detail }
}

/** Another object has the value already. */
export function duplicate<const P extends string>(path: P, value?: unknown): Issue<P> {
  return { level: 'error', reason: 'FieldValueDuplicate', path, detail: '', value }
}

/** The field must be set in this situation. */
export function required<const P extends string>(path: P, detail = ''): Issue<P> {
  return { level: 'error', reason: 'FieldValueRequired', path, detail }
}

/** The value of the field is none of those that are possible. */
export function notSupported<const P extends string>(path: P, supported: readonly string[], value?: unknown): Issue<P> {
  const detail =
    supported.length === 0 ? '' : `supported values: ${supported.map((text) => JSON.stringify(text)).join(', ')}`
  return { level: 'error', reason: 'FieldValueNotSupported', path, detail, value }
}

/** The write goes through, and the user is told. */
export function warning<const P extends string>(path: P, detail: string): Issue<P> {
  return { level: 'warning', reason: 'Warning', path, detail }
}
