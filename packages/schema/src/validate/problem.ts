import { defineBudget, goQuote } from '@kubewright/base'
import { FieldError, omitValue } from '../field/field-error.ts'
import { FieldPath } from '../field/field-path.ts'
import { goJson } from '../field/go-format.ts'
import { spendSteps, textSteps } from '../field/validation-steps.ts'

/** The type of keyword that failed; it determines the type of the field error. */
type ProblemKind = 'required' | 'enum' | 'tooLong' | 'tooMany' | 'type' | 'invalid' | 'composite'

/** A failed keyword with the text of kube-openapi's validation. */
export interface Problem {
  readonly kind: ProblemKind
  /** The path of the value, with a leading dot where kube-openapi has one; empty for the root. */
  readonly name: string
  readonly message: string
  readonly value?: unknown
  /** The exceeded limit. */
  readonly limit?: number | undefined
  readonly values?: readonly unknown[] | undefined
}

/**
 * The maximum number of problems of one object. Bounds the memory and the response of an object in which every item is
 * wrong; kube-apiserver has no such limit.
 */
export const maxProblems: number = defineBudget(10_000, {
  group: 'server',
  what: 'validation errors of a custom resource',
  answer: 'further errors are left out',
  kubernetes: 'no limit',
})

/** The number of problems up to which comparing all texts is cheaper than a set. */
const COMPARE_LIMIT = 8

/** The result of validating one value against one schema. The match count ranks the branches of anyOf and oneOf. */
export class ValidationResult {
  readonly problems: Problem[] = []
  matchCount = 0
  /** The texts of all problems; created when there are too many to compare one by one. */
  #texts: Set<string> | undefined

  /** Adds a problem unless one with the same text exists. Drops problems beyond {@link maxProblems}. */
  add(problem: Problem): void {
    const { problems } = this
    if (problems.length >= maxProblems) return
    // The text is compared with that of others, and flattened for it.
    spendSteps(textSteps(problem.message))
    if (problems.length < COMPARE_LIMIT) {
      for (const known of problems) if (known.message === problem.message) return
    } else {
      this.#texts ??= new Set(problems.map(({ message }) => message))
      if (this.#texts.has(problem.message)) return
      this.#texts.add(problem.message)
    }
    problems.push(problem)
  }

  merge(other: ValidationResult): void {
    for (const problem of other.problems) this.add(problem)
    this.matchCount += other.matchCount
  }

  /** True when further problems would be dropped. */
  get full(): boolean {
    return this.problems.length >= maxProblems
  }

  get valid(): boolean {
    return this.problems.length === 0
  }
}

/**
 * Converts problems to field errors below `path`, as in apiextensions-apiserver/pkg/apiserver/validation/validation.go.
 */
export function toFieldErrors(problems: readonly Problem[], path: FieldPath): FieldError[] {
  return problems.map((problem) => toFieldError(problem, path))
}

function toFieldError(problem: Problem, path: FieldPath): FieldError {
  if (problem.kind === 'composite') return new FieldError('FieldValueInvalid', path, '', problem.message)
  const field = fieldName(problem.name, path)
  switch (problem.kind) {
    case 'required':
      return new FieldError('FieldValueRequired', field, '', '')
    case 'enum':
      return new FieldError('FieldValueNotSupported', field, problem.value, supported(problem.values ?? []))
    case 'tooLong':
      return new FieldError('FieldValueTooLong', field, omitValue, tooLongText(problem.limit ?? -1))
    case 'tooMany':
      return new FieldError('FieldValueTooMany', field, problem.value, tooManyText(problem.limit ?? -1))
    case 'type':
      return new FieldError('FieldValueTypeInvalid', field, problem.value ?? '', problem.message)
    case 'invalid':
      return new FieldError('FieldValueInvalid', field, problem.value ?? '', problem.message)
  }
}

function fieldName(name: string, path: FieldPath): string {
  if (name === '' || name === '.') return path.toString()
  const relative = name.startsWith('.') ? name.slice(1) : name
  return (path === FieldPath.none ? FieldPath.of(relative) : path.child(relative)).toString()
}

const supportedTexts = new WeakMap<readonly unknown[], string>()

function supported(values: readonly unknown[]): string {
  if (values.length === 0) return ''
  const known = supportedTexts.get(values)
  if (known !== undefined) return known
  const texts = values.map((value) => goQuote(typeof value === 'string' ? value : goJson(value)))
  const text = `supported values: ${texts.join(', ')}`
  supportedTexts.set(values, text)
  return text
}

function tooLongText(limit: number): string {
  return `may not be more than ${limit} ${limit === 1 ? 'byte' : 'bytes'}`
}

function tooManyText(limit: number): string {
  return `must have at most ${limit} ${limit === 1 ? 'item' : 'items'}`
}
