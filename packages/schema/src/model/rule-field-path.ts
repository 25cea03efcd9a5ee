import { CaughtError, goEscapes } from '@kubewright/base'
import { FieldPath } from '../field/field-path.ts'
import type { JSONSchemaProps } from './json-schema.ts'
import { propertyOf } from './schema-shape.ts'

/** The target of a path into a schema. */
export interface SchemaPathTarget {
  readonly path: FieldPath
  readonly schema: JSONSchemaProps
}

/** The syntax that {@link resolveSchemaPath} accepts. */
export interface SchemaPathOptions {
  /** Whether `['name']` is allowed in addition to `.name`. @default true */
  readonly allowBrackets?: boolean | undefined
}

/**
 * Follows a JSON path of field and map accesses (`.spec.labels['a/b']`) through a schema. Throws an Error with the
 * reason if there is no such field. Rules use this grammar for `fieldPath`, CRDs for selectable fields.
 */
export function resolveSchemaPath(
  text: string,
  schema: JSONSchemaProps,
  options: SchemaPathOptions = {},
): SchemaPathTarget {
  const tokens = tokenize(text)
  let target: SchemaPathTarget = { path: FieldPath.none, schema }
  for (let i = 0; i < tokens.length; i++) {
    const token = tokens[i]
    if (token === '.') {
      target = step(target, expectToken(tokens[++i]))
    } else if (token === '[') {
      if (options.allowBrackets === false) throw new CaughtError('array notation is not allowed')
      const name = unquote(expectToken(tokens[++i]))
      target = step(target, name)
      const end = expectToken(tokens[++i])
      if (end !== ']') throw new CaughtError(`expected ] but got ${end}`)
    } else {
      throw new CaughtError(`expected [ or . but got: ${token}`)
    }
  }
  return target
}

function expectToken(token: string | undefined): string {
  if (token === undefined) throw new CaughtError('unexpected end of JSON path')
  return token
}

function step(target: SchemaPathTarget, name: string): SchemaPathTarget {
  const { additionalProperties } = target.schema
  if (hasProperties(target.schema)) {
    const property = propertyOf(target.schema, name)
    if (property === undefined) throw new CaughtError('does not refer to a valid field')
    return { path: target.path.child(name), schema: property }
  }
  if (additionalProperties === undefined || additionalProperties === null) {
    throw new CaughtError('does not refer to a valid field')
  }
  // A boolean allows any value; nothing more is known about it.
  const values = typeof additionalProperties === 'object' ? additionalProperties : {}
  return { path: target.path.key(name), schema: values }
}

/** Whether a schema has properties. Remembered, because finding the first key of a large object takes as long as finding all. */
function hasProperties({ properties }: JSONSchemaProps): boolean {
  if (properties === undefined || properties === null) return false
  let known = nonEmpty.get(properties)
  if (known === undefined) {
    known = Object.keys(properties).length > 0
    nonEmpty.set(properties, known)
  }
  return known
}

const nonEmpty = new WeakMap<object, boolean>()

/** Splits a path into `.`, `[`, `]`, single-quoted strings including their quotes, and the text between them. */
function tokenize(text: string): string[] {
  const tokens: string[] = []
  let rest = text
  while (rest !== '') {
    const length = tokenLength(rest)
    tokens.push(rest.slice(0, length))
    rest = rest.slice(length)
  }
  return tokens
}

function tokenLength(text: string): number {
  if (text.startsWith("'")) {
    for (let i = 1; i < text.length; i++) if (text[i] === "'" && text[i - 1] !== '\\') return i + 1
    return text.length
  }
  const end = text.search(/[.[\]]/)
  if (end === 0) return 1
  return end < 0 ? text.length : end
}

function unquote(token: string): string {
  if (token.length < 2 || !token.startsWith("'") || !token.endsWith("'")) {
    throw new CaughtError(`expected single quoted string but got ${token}`)
  }
  return token.slice(1, -1).replaceAll(/\\./gs, (sequence) => {
    const plain = sequence === "\\'" ? "'" : goEscapes[sequence[1] as string]
    if (plain === undefined) throw new CaughtError(`invalid string literal: invalid escape char ${sequence}`)
    return plain
  })
}
