import { defineBudget, isJsonObject, KubewrightError } from '@kubewright/base'
import { goValue } from '@kubewright/schema'
import { goSyntax, goType } from '../fieldset/go-text.ts'
import { formatElement } from '../fieldset/path-element.ts'
import { listItemElement } from './list-item-element.ts'
import type { ListType, MapType, ScalarType, TypeNode } from './type-node.ts'

/**
 * A value does not match its type. Each error starts with the path:
 * `.spec.n: expected numeric (int or float), got string`. Its code is `KW_APPLY`.
 */
export class TypedValueError extends KubewrightError {
  readonly errors: readonly string[]

  constructor(errors: readonly string[]) {
    // The format of ValidationErrors in structured-merge-diff.
    const lines = ['errors:', ...errors.map((error) => `  ${error}`)]
    super('KW_APPLY', errors.length === 1 ? (errors[0] as string) : lines.join('\n'))
    this.errors = errors
  }

  static {
    Object.defineProperty(TypedValueError.prototype, 'name', { value: 'TypedValueError', configurable: true })
  }
}

interface Problem {
  /** Each level of the recursion prepends its element while returning. */
  path: string
  readonly message: string
}

/** The maximum number of problems of one value. structured-merge-diff has no such limit. */
const maxProblems = defineBudget(10_000, {
  group: 'server',
  what: 'type errors of an applied object',
  answer: 'further errors are left out',
  kubernetes: 'no limit',
})

/** Throws a TypedValueError unless the value matches the type, as far as merging requires. */
export function validateTyped(type: TypeNode, value: unknown, allowDuplicates: boolean): void {
  const problems = check(type, value, allowDuplicates)
  if (problems === undefined) return
  throw new TypedValueError(problems.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)))
}

function problem(message: string): Problem[] {
  return [{ path: '', message }]
}

function check(type: TypeNode, value: unknown, allowDuplicates: boolean): Problem[] | undefined {
  if (value === null || value === undefined) return undefined
  if (typeof value !== 'object') {
    if (type.scalar) return checkScalar(type.scalar, value)
    return type.map
      ? problem(`expected map, got &{${goValue(value)}}`)
      : problem(`expected list, got &{${goValue(value)}}`)
  }
  if (Array.isArray(value)) {
    if (type.list) return checkList(type.list, value, allowDuplicates)
  } else if (type.map) {
    return checkMap(type.map, value as Readonly<Record<string, unknown>>, allowDuplicates)
  }
  if (type.map) return problem(`expected map, got &{${goValue(value)}}`)
  if (type.scalar) return checkScalar(type.scalar, value)
  return problem(`expected list, got &{${goValue(value)}}`)
}

function checkScalar(scalar: ScalarType, value: unknown): Problem[] | undefined {
  switch (scalar) {
    case 'numeric':
      if (typeof value === 'number' || typeof value === 'bigint') return undefined
      return problem(`expected numeric (int or float), got ${goType(value)}`)
    case 'string':
      if (typeof value === 'string') return undefined
      return problem(`expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`)
    case 'boolean':
      if (typeof value === 'boolean') return undefined
      return problem(`expected boolean, got &{${goValue(value)}}`)
    default:
      if (!isJsonObject(value) && !Array.isArray(value)) return undefined
      return problem(`expected any scalar, got &{${goValue(value)}}`)
  }
}

function checkList(type: ListType, list: readonly unknown[], allowDuplicates: boolean): Problem[] | undefined {
  let problems: Problem[] | undefined
  const elementType = type.elementType
  const seen = type.atomic || allowDuplicates ? undefined : new Set<string>()
  for (let i = 0; i < list.length; i++) {
    const item = list[i]
    let element: string | undefined
    if (!type.atomic) {
      try {
        element = listItemElement(type, item)
      } catch (error) {
        problems ??= []
        problems.push({ path: '', message: `element ${i}: ${(error as Error).message}` })
        return problems
      }
      if (seen?.has(element)) {
        problems ??= []
        problems.push({ path: '', message: `duplicate entries for key ${formatElement(element)}` })
      }
      seen?.add(element)
    }
    const found = check(elementType, item, allowDuplicates)
    if (found) problems = collect(problems, found, element === undefined ? `[${i}]` : formatElement(element))
  }
  return problems
}

function checkMap(
  type: MapType,
  map: Readonly<Record<string, unknown>>,
  allowDuplicates: boolean,
): Problem[] | undefined {
  let problems: Problem[] | undefined
  for (const key in map) {
    const value = map[key]
    if (value === undefined) continue
    const field = type.field(key)
    const fieldType = field ? field.type : type.elementType
    if (fieldType === undefined) return collect(problems, problem('field not declared in schema'), `.${key}`)
    const found = check(fieldType, value, allowDuplicates)
    if (found) problems = collect(problems, found, `.${key}`)
  }
  return problems
}

/** Adds problems below `prefix` to a list, which it creates if there is none. Leaves out those beyond {@link maxProblems}. */
function collect(problems: Problem[] | undefined, found: Problem[], prefix: string): Problem[] {
  for (const item of found) item.path = prefix + item.path
  if (!problems) return found
  for (const item of found) if (problems.length < maxProblems) problems.push(item)
  return problems
}
