import { compareUtf8 } from '@kubewright/schema'
import { ApiSyntaxError } from '../api-syntax-error.ts'

/** One condition on one field: it has the value, or it has not. */
export interface FieldRequirement {
  readonly field: string
  readonly operator: '=' | '!='
  readonly value: string
}

/** The selectable fields of an object by path, `metadata.name` and the like. A field that is missing counts as empty. */
export type SelectableFields = { readonly [path: string]: string }

/** A field selector: all its requirements have to hold. Immutable. */
export class FieldSelector {
  /** Selects every object. */
  static readonly everything: FieldSelector = new FieldSelector([])
  /** Selects no object. It prints as the empty text, as in apimachinery. */
  static readonly nothing: FieldSelector = new FieldSelector([], true)

  readonly requirements: readonly FieldRequirement[]
  /** True only for {@link FieldSelector.nothing}. */
  readonly isNothing: boolean

  private constructor(requirements: readonly FieldRequirement[], isNothing = false) {
    this.requirements = requirements
    this.isNothing = isNothing
  }

  /** The selector of these requirements, in the given order. */
  static of(requirements: readonly FieldRequirement[]): FieldSelector {
    return requirements.length === 0 ? FieldSelector.everything : new FieldSelector([...requirements])
  }

  /** The selector of objects whose fields have these values, in the order of the field names. */
  static fromFields(fields: SelectableFields): FieldSelector {
    const names = Object.keys(fields).sort(compareUtf8)
    return FieldSelector.of(names.map((field) => ({ field, operator: '=', value: fields[field]! })))
  }

  /** True when the selector restricts nothing. */
  get isEverything(): boolean {
    return this.requirements.length === 0 && !this.isNothing
  }

  /** Whether the selector selects an object with these fields. */
  matches(fields: SelectableFields): boolean {
    return this.matchesBy((field) => fields[field] ?? '')
  }

  /** As {@link FieldSelector.matches} for fields that are read on demand; absent fields are the empty string. */
  matchesBy(read: (field: string) => string): boolean {
    if (this.isNothing) return false
    for (const { field, operator, value } of this.requirements) {
      if ((read(field) === value) !== (operator === '=')) return false
    }
    return true
  }

  /** A selector for which both this one and the other hold. */
  and(other: FieldSelector): FieldSelector {
    if (this.isNothing || other.isNothing) return FieldSelector.nothing
    return FieldSelector.of([...this.requirements, ...other.requirements])
  }

  /** The value that a field must have to be selected, or undefined: what an index or a single-object read can be asked for. */
  exactValueOf(field: string): string | undefined {
    return this.requirements.find((requirement) => requirement.field === field && requirement.operator === '=')?.value
  }

  /**
   * A selector with other field names or values, for instance those of another version; `transform` may throw for fields that are
   * not selectable. A requirement that becomes empty on both sides is dropped.
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

  /** The selector in the syntax of `fieldSelector=`. */
  toString(): string {
    return this.requirements
      .map(({ field, operator, value }) => `${field}${operator}${escapeFieldValue(value)}`)
      .join(',')
  }
}

/** Escapes a value for a field selector: backslash, comma and equals sign. */
export function escapeFieldValue(value: string): string {
  return value.replace(/[\\,=]/g, '\\$&')
}

/** Undoes {@link escapeFieldValue}; a stray or unknown escape and an unescaped comma or equals sign are errors. */
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
      // Go prints the code of the character here.
      throw new ApiSyntaxError(`invalid field selector: unescaped character in value: ${char.charCodeAt(0)}`)
    } else {
      value += char
    }
  }
  if (escaped) throw badEscape('\\')
  return value
}

/**
 * Parses the syntax of `fieldSelector=`: `metadata.name=a,status.phase!=Running`. Requirements end up in the order of their
 * texts; empty ones are skipped, also `=`. The errors are those of apimachinery/pkg/fields.
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

// Splits at commas that no backslash precedes; the backslashes stay.
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
