import { append, defineBudget, isJsonObject } from '@kubewright/base'
import { goFloat, goValue } from '@kubewright/schema'
import { ApiSyntaxError } from '../api-syntax-error.ts'
import { encodeJson } from '../codec/encode-json.ts'
import { compareValues } from './compare-values.ts'
import { type ActionNode, GoFloat, type SliceBound, type StepNode, type TemplateNode } from './json-path-node.ts'
import { parseTemplate } from './parse-json-path.ts'

/** Options of {@link JsonPath}. */
export interface JsonPathOptions {
  /** A missing field gives no result instead of an error, as in `kubectl get -o jsonpath`. @default false */
  readonly allowMissingKeys?: boolean | undefined
}

// Stands for the element of an empty range, in which nothing can be found.
const absent: unique symbol = Symbol('absent')

/**
 * A template in kubectl's dialect of JSONPath: text with actions in braces, such as `{range
 * .items[*]}{.metadata.name}{"\n"}{end}` or `{.spec.containers[?(@.name=="web")].image}`. Error messages are those of
 * client-go/util/jsonpath. Immutable, so one instance can be reused.
 */
export class JsonPath {
  readonly #nodes: readonly TemplateNode[]
  readonly #allowMissingKeys: boolean

  /** Parses the template. Throws {@link ApiSyntaxError} when it is malformed. */
  constructor(template: string, options: JsonPathOptions = {}) {
    this.#nodes = parseTemplate(template)
    this.#allowMissingKeys = options.allowMissingKeys ?? false
  }

  /** Evaluates the template: one list of values for each text and action, repeated for each iteration of a range. */
  find(data: unknown): unknown[][] {
    return this.#run(0, data, false).results.map((values) => values.map(plain))
  }

  /** Evaluates the template to text: values separated by spaces, objects and lists as JSON. */
  render(data: unknown): string {
    return this.#run(0, data, false)
      .results.map((values) => values.map(printValue).join(' '))
      .join('')
  }

  // Evaluates the nodes from `start`. Inside a range it stops at the matching `{end}` and returns its index.
  #run(start: number, data: unknown, inRange: boolean): { results: unknown[][]; endAt?: number | undefined } {
    const results: unknown[][] = []
    for (let i = start; i < this.#nodes.length; i++) {
      const node = this.#nodes[i]!
      if (node.type === 'text') {
        results.push([node.text])
        continue
      }
      const keyword = keywordOf(node)
      const values = this.#list([data], node, inRange)
      if (keyword === 'end') return { results, endAt: i }
      if (keyword !== 'range') {
        results.push(values)
        continue
      }
      let endAt: number | undefined
      for (const value of values.length > 0 ? values : [absent]) {
        const turn = this.#run(i + 1, value, true)
        if (values.length > 0) append(results, turn.results)
        endAt = turn.endAt ?? endAt
      }
      if (endAt !== undefined) i = endAt
    }
    return { results }
  }

  #list(input: readonly unknown[], list: ActionNode, inRange = false): unknown[] {
    let values = [...input]
    for (const step of list.steps) values = this.#step(values, step, inRange)
    return values
  }

  #step(input: unknown[], step: StepNode, inRange: boolean): unknown[] {
    switch (step.type) {
      case 'text':
        return [step.text]
      case 'value':
        return input.map(() => step.value)
      case 'field':
        return this.#field(input, step.name)
      case 'array':
        return flatMap(input, (value) => (isNil(value) ? [] : slice(value, step.bounds)))
      case 'wildcard':
        return flatMap(input, childrenOf)
      case 'recursive':
        return flatMap(input, descendantsOf)
      case 'union':
        return flatMap(step.lists, (list) => this.#list(input, list))
      case 'filter':
        return flatMap(input, (value) => this.#filter(value, step))
      case 'identifier':
        if (step.name === 'range') return input
        if (step.name !== 'end') throw new ApiSyntaxError(`unrecognized identifier ${step.name}`)
        if (!inRange) throw new ApiSyntaxError('not in range, nothing to end')
        return []
    }
  }

  #field(input: unknown[], name: string): unknown[] {
    if (input.length === 0) return input
    const found: unknown[] = []
    for (const value of input) {
      if (isObject(value) && Object.hasOwn(value, name) && value[name] !== undefined) found.push(value[name])
    }
    if (found.length === 0 && !this.#allowMissingKeys) throw new ApiSyntaxError(`${name} is not found`)
    return found
  }

  #filter(value: unknown, step: Extract<StepNode, { type: 'filter' }>): unknown[] {
    if (!Array.isArray(value)) {
      const shown = value === absent ? '<invalid reflect.Value>' : goValue(plain(value))
      throw new ApiSyntaxError(`${shown} is not array or slice and cannot be filtered`)
    }
    return value.filter((element) => {
      if (step.operator === 'exists') return this.#exists(element, step.left)
      const left = single(this.#list([element], step.left))
      if (left === undefined) return false
      const right = single(this.#list([element], step.right))
      return right !== undefined && compareValues(left[0], step.operator, right[0])
    })
  }

  #exists(element: unknown, list: ActionNode): boolean {
    try {
      return this.#list([element], list).length > 0
    } catch (error) {
      // A path that cannot be evaluated does not exist.
      if (error instanceof ApiSyntaxError) return false
      throw error
    }
  }
}

/**
 * Converts the notations that users write (`.spec.x`, `spec.x`, `{.spec.x}`, `{spec.x}`) to a template, as `kubectl
 * get` does for custom columns and `--sort-by`. An empty expression stays empty.
 */
export function relaxedJsonPath(expression: string): string {
  if (expression === '') return expression
  const match = /^\{\.?([^{}]+)\}$|^\.?([^{}]+)$/.exec(expression)
  if (match === null) {
    throw new ApiSyntaxError(
      "unexpected path string, expected a 'name1.name2' or '.name1.name2' or '{name1.name2}' or '{.name1.name2}'",
    )
  }
  return `{.${match[1] ?? match[2]}}`
}

/** The maximum number of values that one step of a path selects. */
const maxValues = defineBudget(1_000_000, {
  group: 'server',
  what: 'values that one step of a JSONPath selects',
  answer: 'the cell of the table is empty',
  kubernetes: 'no limit',
})

function keywordOf(node: ActionNode): string | undefined {
  const identifier = node.steps.find((step) => step.type === 'identifier')
  return identifier?.type === 'identifier' ? identifier.name : undefined
}

function single(values: unknown[]): [unknown] | undefined {
  if (values.length === 0) return undefined
  if (values.length > 1) throw new ApiSyntaxError('can only compare one element at a time')
  return [values[0]]
}

function slice(value: unknown, bounds: readonly [SliceBound, SliceBound, SliceBound]): unknown[] {
  if (!Array.isArray(value)) throw new ApiSyntaxError(`${goTypeName(value)} is not array or slice`)
  const { length } = value
  const [first, last, every] = bounds
  const start = first.value < 0 ? first.value + length : first.value
  let stop = last.known ? last.value : length
  if (stop < 0 || (stop === 0 && last.derived)) stop += length
  if (start === stop) return []
  if (start >= length || start < 0) throw outOfBounds(start, length)
  if (stop > length || stop < 0) throw outOfBounds(stop - 1, length)
  if (start > stop) throw new ApiSyntaxError(`starting index ${start} is greater than ending index ${stop}`)
  if (every.known && every.value <= 0) throw new ApiSyntaxError('step must be > 0')
  const step = every.known ? every.value : 1
  const taken: unknown[] = []
  for (let i = start; i < stop; i += step) taken.push(value[i])
  return taken
}

function outOfBounds(index: number, length: number): ApiSyntaxError {
  return new ApiSyntaxError(`array index out of bounds: index ${index}, length ${length}`)
}

// Object values are returned in insertion order (Go's order is random). The children of a string are its bytes.
function childrenOf(value: unknown): unknown[] {
  if (Array.isArray(value)) return value
  if (typeof value === 'string') return [...new TextEncoder().encode(value)]
  return isObject(value) ? Object.values(value) : []
}

/** The value and its descendants, parents first, without those that have no children. */
function descendantsOf(value: unknown, found: unknown[] = []): unknown[] {
  const children = childrenOf(value)
  if (children.length === 0) return found
  found.push(value)
  for (const child of children) descendantsOf(child, found)
  return found
}

/**
 * Like `Array.prototype.flatMap`. Throws an ApiSyntaxError when a step selects too many values: each union or recursive step can
 * multiply their number, so that a short path would select billions.
 */
function flatMap<T>(list: readonly T[], values: (item: T) => readonly unknown[]): unknown[] {
  const found: unknown[] = []
  for (const item of list) {
    append(found, values(item))
    if (found.length > maxValues) throw new ApiSyntaxError(`selects more than ${maxValues} values`)
  }
  return found
}

function printValue(value: unknown): string {
  if (value === null) return 'null'
  if (value === absent) return '<no value>'
  if (value instanceof GoFloat) return goFloat(value.value)
  if (typeof value === 'object') return encodeJson(value, { sortKeys: true })
  return goValue(value)
}

function plain(value: unknown): unknown {
  return value instanceof GoFloat ? value.value : value === absent ? undefined : value
}

function isNil(value: unknown): boolean {
  return value === null || value === absent
}

function isObject(value: unknown): value is Record<string, unknown> {
  return isJsonObject(value) && !(value instanceof GoFloat)
}

function goTypeName(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return 'string'
    case 'boolean':
      return 'bool'
    case 'bigint':
      return 'int64'
    case 'number':
      return Number.isInteger(value) ? 'int64' : 'float64'
    default:
      return value instanceof GoFloat ? 'float64' : 'map[string]interface {}'
  }
}
