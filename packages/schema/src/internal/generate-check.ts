import { codePointLength, formatCheck } from '@kubewright/base'
import type { JSONSchemaProps } from '../json-schema.ts'
import type { Check, CheckCompiler } from './fast-check.ts'
import { hasListTypeErrors } from './list-types.ts'
import { StructuralNode } from './structural-node.ts'
import { compilePattern, effectiveFormat, limit } from './value-rules.ts'

/** The number of schema nodes that one check covers. Nodes beyond it are left to the closures. */
const MAX_NODES = 1000

/** The number of properties up to which a look-up of each is faster than an iteration over the fields of the object. */
const MAX_LOOKUPS = 24

/** The number of items up to which a generated check compares the keys of a list pairwise. */
const PAIRWISE_LIMIT = 64

const CONSTANTS = 'constants'

/**
 * Compiles a schema of custom resources to JavaScript. The check returns true only for values that satisfy all keywords of the schema and
 * have no duplicates in lists of type `set` and `map`. It returns false for every other value and for valid values of unusual forms,
 * so false means that the other checks decide.
 *
 * Returns undefined if the process forbids code generation (`--disallow-code-generation-from-strings`).
 *
 * Schemas are untrusted. The code consists of fixed texts, names of its own, and literals that {@link textLiteral} and
 * {@link numberLiteral} write; everything else is passed to it as a constant. See ADR 24.
 */
export function generateCheck(schema: JSONSchemaProps, compiler: CheckCompiler): Check | undefined {
  const { source, constants } = new CheckGenerator(compiler).generate(schema)
  try {
    const create = new Function(CONSTANTS, source) as (constants: readonly unknown[]) => Check
    return create(constants)
  } catch (error) {
    if (error instanceof EvalError) return undefined
    throw error
  }
}

/** Thrown for a schema that this generator does not cover; the closures check the values of it. */
class NotCovered extends Error {}

/** Writes one function for each schema of an object. Statements return false from it. */
class CheckGenerator {
  readonly #compiler: CheckCompiler
  readonly #constants: unknown[] = []
  readonly #functions: string[] = []
  /** The schemas that contain the current one; a cyclic schema is left to the closures. */
  readonly #open = new Set<JSONSchemaProps>()
  #nodes = 0
  #names = 0

  constructor(compiler: CheckCompiler) {
    this.#compiler = compiler
  }

  generate(schema: JSONSchemaProps): { source: string; constants: readonly unknown[] } {
    const body = this.#value(schema, 'root')
    const names = this.#constants.map((_, i) => `c${i}`)
    const constants = names.length === 0 ? '' : `const [${names.join(',')}]=${CONSTANTS};`
    const source = `"use strict";${constants}${this.#functions.join('')}return function(root){${body}return true}`
    return { source, constants: this.#constants }
  }

  #constant(value: unknown): string {
    return `c${this.#constants.push(value) - 1}`
  }

  #name(): string {
    return `v${this.#names++}`
  }

  /** Returns statements that return false unless the schema accepts the value of a variable. */
  #value(schema: JSONSchemaProps, variable: string): string {
    const constants = this.#constants.length
    const functions = this.#functions.length
    if (++this.#nodes > MAX_NODES || this.#open.has(schema)) return this.#closure(schema, variable)
    this.#open.add(schema)
    try {
      return this.#covered(schema, variable)
    } catch (error) {
      if (!(error instanceof NotCovered)) throw error
      this.#constants.length = constants
      this.#functions.length = functions
      return this.#closure(schema, variable)
    } finally {
      this.#open.delete(schema)
    }
  }

  /** Leaves a schema to the closures. */
  #closure(schema: JSONSchemaProps, variable: string): string {
    const check = this.#constant(this.#compiler.compile(schema))
    return `if(!${check}(${variable}))return false;${this.#listTypes(schema, variable)}`
  }

  #listTypes(schema: JSONSchemaProps, variable: string): string {
    const node = StructuralNode.of(schema)
    if (!node.has('listTypes')) return ''
    return `if(${this.#constant(hasListTypeErrors)}(${variable},${this.#constant(node)}))return false;`
  }

  #covered(schema: JSONSchemaProps, variable: string): string {
    const body = this.#typed(schema, variable) + this.#rest(schema, variable)
    if (schema.nullable !== true || (schema.enum ?? []).length > 0) return body
    return `if(${variable}!==null){${body}}`
  }

  #typed(schema: JSONSchemaProps, variable: string): string {
    const format = effectiveFormat(schema, 'resource')
    if (schema['x-kubernetes-int-or-string'] === true) {
      if (format !== '') throw new NotCovered()
      return `if(typeof ${variable}==="string"){${this.#text(schema, variable)}}else{${integer(schema, variable)}}`
    }
    if (format !== '' && schema.type !== 'string') throw new NotCovered()
    switch (schema.type) {
      case 'string':
        return `if(typeof ${variable}!=="string")return false;${this.#text(schema, variable)}`
      case 'integer':
        return integer(schema, variable)
      case 'number':
        return number(schema, variable)
      case 'boolean':
        return `if(typeof ${variable}!=="boolean")return false;`
      case 'array':
        return `if(!Array.isArray(${variable}))return false;${this.#list(schema, variable)}`
      case 'object': {
        const isObject = `if(typeof ${variable}!=="object"||${variable}===null||Array.isArray(${variable}))return false;`
        // Reserves the name before the functions of the properties are written.
        const index = this.#functions.push('') - 1
        const fields = this.#object(schema)
        if (fields === '') return isObject
        this.#functions[index] = `function f${index}(o){${fields}return true}`
        return `${isObject}if(!f${index}(${variable}))return false;`
      }
      default:
        throw new NotCovered()
    }
  }

  /** Writes the check of a string with its length, pattern and format. */
  #text(schema: JSONSchemaProps, variable: string): string {
    const tests: string[] = []
    const most = limit(schema.maxLength)
    const least = limit(schema.minLength)
    const length = `${variable}.length`
    // A text has at most as many code points as UTF-16 units, and at least half as many.
    if (most !== undefined) {
      const points = `${this.#constant(codePointLength)}(${variable})`
      tests.push(`${length}>${numberLiteral(most)}&&${points}>${numberLiteral(most)}`)
    }
    if (least !== undefined && least > 0) {
      const points = `${this.#constant(codePointLength)}(${variable})`
      tests.push(`${length}<${numberLiteral(2 * least - 1)}&&${points}<${numberLiteral(least)}`)
    }
    if (schema.pattern !== undefined && schema.pattern !== '') {
      tests.push(`!${this.#constant(compilePattern(schema.pattern).matches)}(${variable})`)
    }
    const hasFormat = formatCheck(effectiveFormat(schema, 'resource'))
    if (hasFormat !== undefined) tests.push(`!${this.#constant(hasFormat)}(${variable})`)
    return tests.map((test) => `if(${test})return false;`).join('')
  }

  #list(schema: JSONSchemaProps, variable: string): string {
    if (schema.uniqueItems === true) throw new NotCovered()
    const least = limit(schema.minItems)
    const most = limit(schema.maxItems)
    let code = ''
    if (least !== undefined) code += `if(${variable}.length<${numberLiteral(least)})return false;`
    if (most !== undefined) code += `if(${variable}.length>${numberLiteral(most)})return false;`
    const item = this.#name()
    const index = this.#name()
    const items = schema.items === undefined || schema.items === null ? '' : this.#value(schema.items, item)
    const isKeyed = ['set', 'map'].includes(schema['x-kubernetes-list-type'] ?? '')
    if (items === '' && !isKeyed) return code
    if (isKeyed) code += `if(${variable}.length>${PAIRWISE_LIMIT})return false;`
    const distinct = isKeyed ? this.#distinct(schema, variable, index, item) : ''
    return `${code}for(let ${index}=0;${index}<${variable}.length;${index}++){const ${item}=${variable}[${index}];${items}${distinct}}`
  }

  /** Compares an item, or its keys, with the items before it. Items that are no scalars may be equal. */
  #distinct(schema: JSONSchemaProps, list: string, index: string, item: string): string {
    const other = this.#name()
    const isMap = schema['x-kubernetes-list-type'] === 'map'
    const fields = isMap ? (schema['x-kubernetes-list-map-keys'] ?? []).map((name) => `[${textLiteral(name)}]`) : ['']
    const keys = fields.map((field) => ({ field, key: this.#name() }))
    const declared = keys.map(
      ({ field, key }) => `const ${key}=${item}${field};if(typeof ${key}==="object")return false;`,
    )
    const equal = keys.map(({ field, key }) => `${list}[${other}]${field}===${key}`)
    // Items without keys are all equal.
    const test = equal.length === 0 ? 'true' : equal.join('&&')
    const isObject = isMap ? `if(typeof ${item}!=="object"||${item}===null||Array.isArray(${item}))return false;` : ''
    return `${isObject}${declared.join('')}for(let ${other}=0;${other}<${index};${other}++)if(${test})return false;`
  }

  /** Writes the checks of the fields of an object, which is the variable `o`. */
  #object(schema: JSONSchemaProps): string {
    const properties = Object.entries(schema.properties ?? {})
    const required = schema.required ?? []
    // Every object inherits properties with these names, so a look-up does not tell whether the object has them.
    if ([...properties.map(([name]) => name), ...required].some((name) => name in Object.prototype)) {
      throw new NotCovered()
    }
    const additional = schema.additionalProperties
    const hasOther = additional === false || (typeof additional === 'object' && additional !== null)
    const counted = limit(schema.minProperties) !== undefined || limit(schema.maxProperties) !== undefined
    if (!hasOther && !counted && properties.length <= MAX_LOOKUPS) {
      const code = properties.map(([name, property]) => this.#property(name, property, required.includes(name)))
      const rest = required.filter((name) => !Object.hasOwn(schema.properties ?? {}, name))
      return code.join('') + rest.map(missing).join('')
    }
    return required.map(missing).join('') + this.#fields(schema, properties)
  }

  #property(name: string, schema: JSONSchemaProps, isRequired: boolean): string {
    const variable = this.#name()
    const body = this.#value(schema, variable)
    const declared = `const ${variable}=o[${textLiteral(name)}];`
    // Checks do not accept undefined, but for schemas without a type.
    if (isRequired) return `${declared}if(${variable}===undefined)return false;${body}`
    return body === '' ? '' : `${declared}if(${variable}!==undefined){${body}}`
  }

  /** Iterates over the fields of the object, for the checks that need all of them or few of many. */
  #fields(schema: JSONSchemaProps, properties: readonly (readonly [string, JSONSchemaProps])[]): string {
    const [name, field, count] = [this.#name(), this.#name(), this.#name()]
    const cases = properties.map(
      ([each, property]) => `case ${textLiteral(each)}:{${this.#value(property, field)}break}`,
    )
    const additional = schema.additionalProperties
    let other = ''
    if (additional === false) other = 'return false;'
    else if (typeof additional === 'object' && additional !== null) other = this.#value(additional, field)
    const body = cases.length === 0 ? other : `switch(${name}){${cases.join('')}default:{${other}}}`
    const least = limit(schema.minProperties)
    const most = limit(schema.maxProperties)
    let code = `let ${count}=0;for(const ${name} in o){const ${field}=o[${name}];if(${field}===undefined)continue;${count}++;${body}}`
    if (least !== undefined) code += `if(${count}<${numberLiteral(least)})return false;`
    if (most !== undefined) code += `if(${count}>${numberLiteral(most)})return false;`
    return code
  }

  /** Writes enum and junctors. */
  #rest(schema: JSONSchemaProps, variable: string): string {
    const allowed = schema.enum ?? []
    const texts = allowed.filter((each) => typeof each === 'string')
    let code = ''
    let left = schema
    if (allowed.length > 0 && schema.type === 'string' && texts.length === allowed.length) {
      code = `if(${texts.map((text) => `${variable}!==${textLiteral(text)}`).join('&&')})return false;`
      left = { ...left, enum: [] }
    }
    if (schema['x-kubernetes-int-or-string'] === true && isIntegerOrString(schema.anyOf)) left = { ...left, anyOf: [] }
    const rest = this.#compiler.restOf(left)
    return rest === undefined ? code : `${code}if(!${this.#constant(rest)}(${variable}))return false;`
  }
}

const missing = (name: string): string => `if(o[${textLiteral(name)}]===undefined)return false;`

/** Accepts integers within the bounds. The exact check truncates bounds; here, they are rounded inwards. */
function integer(schema: JSONSchemaProps, variable: string): string {
  if (limit(schema.multipleOf) !== undefined) throw new NotCovered()
  const low = Math.max(Math.ceil(limit(schema.minimum) ?? -Infinity), Number.MIN_SAFE_INTEGER)
  const high = Math.min(Math.floor(limit(schema.maximum) ?? Infinity), Number.MAX_SAFE_INTEGER)
  const above = `${variable}>${schema.exclusiveMinimum === true ? '' : '='}${numberLiteral(low)}`
  const below = `${variable}<${schema.exclusiveMaximum === true ? '' : '='}${numberLiteral(high)}`
  return `if(!(typeof ${variable}==="number"&&${above}&&${below}&&Number.isInteger(${variable})))return false;`
}

/** Accepts numbers within the bounds. Bounds with a fraction are left to the exact check, which truncates them for integers. */
function number(schema: JSONSchemaProps, variable: string): string {
  if (limit(schema.multipleOf) !== undefined) throw new NotCovered()
  const low = limit(schema.minimum)
  const high = limit(schema.maximum)
  const tests = [`typeof ${variable}==="number"`]
  for (const bound of [low, high]) if (bound !== undefined && !Number.isSafeInteger(bound)) throw new NotCovered()
  if (low !== undefined) tests.push(`${variable}>${schema.exclusiveMinimum === true ? '' : '='}${numberLiteral(low)}`)
  if (high !== undefined) tests.push(`${variable}<${schema.exclusiveMaximum === true ? '' : '='}${numberLiteral(high)}`)
  return `if(!(${tests.join('&&')}))return false;`
}

/** The junctor that Kubernetes allows beside x-kubernetes-int-or-string, which states the same. */
function isIntegerOrString(anyOf: readonly JSONSchemaProps[] | undefined): boolean {
  const types = (anyOf ?? []).map((branch) => (Object.keys(branch).length === 1 ? branch.type : undefined))
  return types.length === 2 && types[0] === 'integer' && types[1] === 'string'
}

/** Writes a string that comes from a schema. JSON is a subset of JavaScript. */
function textLiteral(text: unknown): string {
  if (typeof text !== 'string') throw new NotCovered()
  return JSON.stringify(text)
}

/** Writes a number that comes from a schema. */
function numberLiteral(value: unknown): string {
  if (typeof value !== 'number' || !Number.isFinite(value)) throw new NotCovered()
  return value < 0 ? `(${value})` : String(value)
}
