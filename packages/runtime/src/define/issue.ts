/** A problem that a validating webhook found in one field. */
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
  /** The invalid value, for the message. @default the value at the path */
  readonly value?: unknown
}

/** The value of the field is invalid. */
export function invalid<const P extends string>(path: P, detail: string, value?: unknown): Issue<P> {
  return { level: 'error', reason: 'FieldValueInvalid', path, detail, value }
}

/** The field must not be set, or must not be changed. */
export function forbidden<const P extends string>(path: P, detail: string): Issue<P> {
  return { level: 'error', reason: 'FieldValueForbidden', path, detail }
}

/** Another object already has the value. */
export function duplicate<const P extends string>(path: P, value?: unknown): Issue<P> {
  return { level: 'error', reason: 'FieldValueDuplicate', path, detail: '', value }
}

/** The field must be set. */
export function required<const P extends string>(path: P, detail = ''): Issue<P> {
  return { level: 'error', reason: 'FieldValueRequired', path, detail }
}

/** The value of the field is not one of the supported values. */
export function notSupported<const P extends string>(path: P, supported: readonly string[], value?: unknown): Issue<P> {
  const detail =
    supported.length === 0 ? '' : `supported values: ${supported.map((text) => JSON.stringify(text)).join(', ')}`
  return { level: 'error', reason: 'FieldValueNotSupported', path, detail, value }
}

/** The request is allowed, and the user sees a warning. */
export function warning<const P extends string>(path: P, detail: string): Issue<P> {
  return { level: 'warning', reason: 'Warning', path, detail }
}
