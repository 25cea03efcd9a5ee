import { type AnyKind, type ApiError, FieldError, newInvalid } from '@kubewright/api'
import { omitValue } from '@kubewright/schema'
import type { Issue } from '../../define/issue.ts'

/** The result of a validation: the error that rejects the request, and the warnings. */
export interface Verdict {
  readonly error: ApiError | undefined
  readonly warnings: readonly string[]
}

/**
 * Converts issues to a verdict. Errors become an Invalid error that names the fields, as from the API server itself.
 */
export function verdictOf(
  kind: AnyKind,
  object: object,
  issues: readonly (Issue | false | null | undefined)[],
): Verdict {
  const errors: FieldError[] = []
  const warnings: string[] = []
  for (const issue of issues) {
    if (!issue) continue
    if (issue.level === 'warning' || issue.reason === 'Warning') warnings.push(`${issue.path}: ${issue.detail}`)
    else {
      const value = issue.value === undefined ? valueAt(object, issue.path) : issue.value
      errors.push(new FieldError(issue.reason, issue.path, value === undefined ? omitValue : value, issue.detail))
    }
  }
  const { name = '' } = (object as { metadata?: { name?: string | undefined } | undefined }).metadata ?? {}
  return { error: errors.length === 0 ? undefined : newInvalid(kind, name, errors), warnings }
}

/** The value at a field path such as `spec.ports[0].name` or `metadata.labels[app]`; undefined when there is none. */
export function valueAt(object: unknown, path: string): unknown {
  let value = object
  for (const [, name, subscript] of path.matchAll(/([^.[\]]+)|\[([^\]]*)\]/g)) {
    if (typeof value !== 'object' || value === null) return undefined
    const key = name ?? subscript ?? ''
    value = Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined
  }
  return value
}
