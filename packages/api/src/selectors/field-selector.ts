import { compareUtf8 } from '@kubewright/base'
import { ApiSyntaxError } from '../api-syntax-error.ts'

/** One condition: a field equals, or does not equal, a value. */
export interface FieldRequirement {
  readonly field: string
  readonly operator: '=' | '!='
  readonly value: string
}

/** The selectable fields of an object by path, such as `metadata.name`. A missing field counts as empty. */
export type SelectableFields = { readonly [path: string]: string }

/** A field selector: the conjunction of its requirements. Immutable. */
export class FieldSelector {
  /** Selects every object. */
  static readonly everything: FieldSelector = new FieldSelector([])
  /** Selects no object. Its string form is empty, as in apimachinery. */
  static readonly nothing: FieldSelector = new FieldSelector([], true)

  readonly requirements: readonly FieldRequirement[]
  /** True only for {@link FieldSelector.nothing}. */
  readonly isNothing: boolean

  private constructor(requirements: readonly FieldRequirement[], isNothing = false) {
    this.requirements = requirements
    this.isNothing = isNothing
  }

  /** The selector with these requirements, in the given order. */
  static of(requirements: readonly FieldRequirement[]): FieldSelector {
    return requirements.length === 0 ? FieldSelector.everything : new FieldSelector([...requirements])
  }

  /** The selector of objects whose fields have these values; requirements are sorted by field name. */
  static fromFields(fields: SelectableFields): FieldSelector {
    const names = Object.keys(fields).sort(compareUtf8)
    return FieldSelector.of(names.map((field) => ({ field, operator: '=', value: fields[field]! })))
  }

  /** True when the selector selects every object. */
  get isEverything(): boolean {
    return this.requirements.length === 0 && !this.isNothing
  }

  /** Whether the selector selects an object with these fields. */
  matches(fields: SelectableFields): boolean {
    return this.matchesBy((field) => fields[field] ?? '')
  }

  /** Like {@link FieldSelector.matches}, reading fields on demand. `read` returns the empty string for a missing field. */
  matchesBy(read: (field: string) => string): boolean {
    if (this.isNothing) return false
    for (const { field, operator, value } of this.requirements) {
      if ((read(field) === value) !== (operator === '=')) return false
    }
    return true
  }

  /** The conjunction of this selector and the other. */
  and(other: FieldSelector): FieldSelector {
    if (this.isNothing || other.isNothing) return FieldSelector.nothing
    return FieldSelector.of([...this.requirements, ...other.requirements])
  }

  /** The value that the selector requires of a field, or undefined. Useful for index lookups and single-object reads. */
  exactValueOf(field: string): string | undefined {
    return this.requirements.find((requirement) => requirement.field === field && requirement.operator === '=')?.value
  }

  /**
   * A selector with its fields or values replaced, for example by those of another API version. `transform` may throw
   * for a field that is not selectable. A requirement whose field and value both become empty is dropped.
   */
  transform(transform: (field: string, value: string) => readonly [field: string, value: string]): FieldSelector {
    if (this.isNothing) return this
    const requirements: FieldRequirement[] = []
    for (const { field, operator, value } of this.requirements) {
      const [newField, newValue] = transform(field, value)
      if (newField !== '' || newValue !== '') requirements.push({ field: newField, operator, value: newValue })
    }
    return FieldSelector.of(requirements)
  }

  /** The selector in `fieldSelector=` syntax. */
  toString(): string {
    return this.requirements
      .map(({ field, operator, value }) => `${field}${operator}${escapeFieldValue(value)}`)
      .join(',')
  }
}

/** Escapes backslash, comma and equals sign in a value for a field selector. */
export function escapeFieldValue(value: string): string {
  return value.replace(/[\\,=]/g, '\\$&')
}

/** Reverses {@link escapeFieldValue}. Throws for an invalid escape and for an unescaped comma or equals sign. */
export function unescapeFieldValue(text: string): string {
  let value = ''
  let escaped = false
  for (const char of text) {
    if (escaped) {
      if (char !== '\\' && char !== ',' && char !== '=') throw badEscape(`\\${char}`)
      value += char
      escaped = false
    } else if (char === '\\') {
      escaped = true
    } else if (char === ',' || char === '=') {
      // Go prints the character code here.
      throw new ApiSyntaxError(`invalid field selector: unescaped character in value: ${char.charCodeAt(0)}`)
    } else {
      value += char
    }
  }
  if (escaped) throw badEscape('\\')
  return value
}

/**
 * Parses `fieldSelector=` syntax: `metadata.name=a,status.phase!=Running`. Requirements are sorted by their text; empty
 * ones, including `=`, are skipped. Error messages are those of apimachinery/pkg/fields.
 */
export function parseFieldSelector(text: string): FieldSelector {
  const requirements: FieldRequirement[] = []
  for (const term of splitTerms(text).sort(compareUtf8)) {
    if (term === '') continue
    const match = /^(.*?)(!=|==|=)(.*)$/s.exec(term)
    if (match === null) throw new ApiSyntaxError(`invalid selector: '${text}'; can't understand '${term}'`)
    const [, field, operator, written] = match
    const value = unescapeFieldValue(written!)
    if (field === '' && value === '') continue
    requirements.push({ field: field!, operator: operator === '!=' ? '!=' : '=', value })
  }
  return FieldSelector.of(requirements)
}

// Splits at unescaped commas and keeps the backslashes.
function splitTerms(text: string): string[] {
  const terms: string[] = []
  let start = 0
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === ',') {
      terms.push(text.slice(start, at))
      start = at + 1
    }
  }
  terms.push(text.slice(start))
  return terms
}

function badEscape(sequence: string): ApiSyntaxError {
  return new ApiSyntaxError(`invalid field selector: invalid escape sequence: ${sequence}`)
}
