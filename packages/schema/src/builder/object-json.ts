import { escapeIdentifier } from '@kubewright/cel'
import type { JSONSchemaProps, ValidationRule } from '../model/json-schema.ts'
import type { Fields } from './object-shape.ts'
import { optionNames, validationJson } from './validation-json.ts'

const where = 's.object()'

/** The options of an object that are not plain keywords. ObjectOptions is the typed form. */
export interface ObjectSettings {
  readonly mapType?: 'granular' | 'atomic' | undefined
  readonly preserveUnknownFields?: boolean | undefined
  readonly required?: readonly string[] | undefined
  readonly exactlyOneOf?: readonly string[] | undefined
  readonly atMostOneOf?: readonly string[] | undefined
  readonly atLeastOneOf?: readonly string[] | undefined
}

/**
 * Returns the schema of an object with named fields.
 * @throws TypeError if a field is not a schema, or an option refers to an unsuitable field
 */
export function objectJson(fields: Fields, options: ObjectSettings): JSONSchemaProps {
  const {
    mapType,
    preserveUnknownFields,
    required: more = [],
    exactlyOneOf,
    atMostOneOf,
    atLeastOneOf,
    ...rest
  } = options
  const properties: [string, JSONSchemaProps][] = []
  const required: string[] = []
  for (const [name, field] of Object.entries(fields)) {
    if (typeof field?.json !== 'object')
      throw new TypeError(`Cannot build ${where}: field "${name}" is not a schema of s`)
    properties.push([name, field.json])
    if (field.presence === 'required') required.push(name)
  }
  for (const name of more) {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined
    if (field?.presence === 'optional') fail(`field "${name}" is listed in required and is optional; drop .optional()`)
    if (field === undefined && preserveUnknownFields !== true) fail(`required lists "${name}", which is not a field`)
    required.push(name)
  }
  const rules = [
    ...groupRule(fields, 'atMostOneOf', atMostOneOf),
    ...groupRule(fields, 'exactlyOneOf', exactlyOneOf),
    ...groupRule(fields, 'atLeastOneOf', atLeastOneOf),
  ]
  return {
    ...validationJson(rest, optionNames.object, where),
    type: 'object',
    ...(properties.length > 0 ? { properties: Object.fromEntries(properties) } : {}),
    ...(required.length > 0 ? { required } : {}),
    ...(mapType === undefined ? {} : { 'x-kubernetes-map-type': mapType }),
    ...(preserveUnknownFields === true ? { 'x-kubernetes-preserve-unknown-fields': true } : {}),
    ...(rules.length > 0 ? { 'x-kubernetes-validations': rules } : {}),
  }
}

function fail(problem: string): never {
  throw new TypeError(`Cannot build ${where}: ${problem}`)
}

type Group = 'exactlyOneOf' | 'atMostOneOf' | 'atLeastOneOf'

// The expressions are those of controller-gen; their estimated cost is constant. oneOf with required would be
// equivalent, but its error ("must validate one and only one schema") does not name the fields.
function groupRule(fields: Fields, group: Group, names: readonly string[] | undefined): ValidationRule[] {
  if (names === undefined) return []
  if (names.length < 2) fail(`${group} needs at least two fields`)
  const present = names.map((name) => {
    if (!Object.hasOwn(fields, name)) fail(`${group} lists "${name}", which is not a field`)
    if (fields[name]?.presence !== 'optional') fail(`${group} lists "${name}", which is not optional; add .optional()`)
    const identifier = escapeIdentifier(name)
    if (identifier === undefined) fail(`${group} lists "${name}", but CEL cannot refer to a field of this name`)
    return `has(self.${identifier})`
  })
  const count = present.map((has) => `(${has}?1:0)`).join('+')
  const list = `[${names.join(' ')}]`
  switch (group) {
    case 'exactlyOneOf':
      return [{ rule: `${count} == 1`, message: `exactly one of the fields in ${list} must be set` }]
    case 'atMostOneOf':
      return [{ rule: `${count} <= 1`, message: `at most one of the fields in ${list} may be set` }]
    case 'atLeastOneOf':
      return [{ rule: present.join('||'), message: `at least one of the fields in ${list} must be set` }]
  }
}
