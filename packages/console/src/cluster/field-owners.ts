import { isJsonObject, textOf } from '@kubewright/base'
import type { Manager } from '../wire/object-view.ts'
import { type FieldPath, pathKey } from './field-path.ts'
import { type Json, listAt, objectAt } from './json.ts'

/** The field managers of an object, and the indexes of those that own each field. */
export interface FieldOwners {
  readonly managers: readonly Manager[]
  ownersOf(path: FieldPath): readonly number[]
}

/** Reads metadata.managedFields of an object. Entries that do not match the object are ignored. */
export function fieldOwners(object: unknown): FieldOwners {
  const entries = listAt(objectAt(object, 'metadata'), 'managedFields')
  const owners = new Map<string, number[]>()
  entries.forEach((entry, index) => {
    const own = (path: FieldPath): void => {
      const key = pathKey(path)
      const list = owners.get(key)
      if (list === undefined) owners.set(key, [index])
      else if (list.at(-1) !== index) list.push(index)
    }
    visit(objectAt(entry, 'fieldsV1'), object, [], own)
  })
  return { managers: entries.map(managerOf), ownersOf: (path) => owners.get(pathKey(path)) ?? [] }
}

function managerOf(entry: Json): Manager {
  return {
    name: textOf(entry['manager']),
    operation: textOf(entry['operation']),
    subresource: textOf(entry['subresource']) || undefined,
    time: textOf(entry['time']) || undefined,
  }
}

/** Walks a FieldsV1 tree beside the value that it describes. */
function visit(fields: Json, value: unknown, path: FieldPath, own: (path: FieldPath) => void): void {
  const names = Object.keys(fields)
  // A field without children is owned as a whole.
  if (names.length === 0) {
    ownAll(value, path, own)
    return
  }
  for (const name of names) {
    if (name === '.') {
      own(path)
      continue
    }
    const step = childOf(name, value)
    if (step === undefined) continue
    const child = fields[name]
    const found = Array.isArray(value) ? value[step as number] : (value as Json)[step]
    visit(isJsonObject(child) ? child : {}, found, [...path, step], own)
  }
}

/** The field name or list index that a path element of FieldsV1 selects in a value; undefined if there is none. */
function childOf(element: string, value: unknown): string | number | undefined {
  const text = element.slice(2)
  if (element.startsWith('f:')) return isJsonObject(value) && Object.hasOwn(value, text) ? text : undefined
  if (!Array.isArray(value)) return undefined
  const wanted = parse(text)
  let index = -1
  if (element.startsWith('i:')) index = typeof wanted === 'number' && wanted < value.length ? wanted : -1
  else if (element.startsWith('v:')) index = value.indexOf(wanted)
  else if (element.startsWith('k:') && isJsonObject(wanted)) {
    const keys = Object.entries(wanted)
    // A key field that the object leaves out has its default value, which is not known here.
    index = value.findIndex((item) => isJsonObject(item) && keys.every(([key, v]) => item[key] === v || !(key in item)))
  }
  return index < 0 ? undefined : index
}

function ownAll(value: unknown, path: FieldPath, own: (path: FieldPath) => void): void {
  own(path)
  if (Array.isArray(value)) value.forEach((item, index) => void ownAll(item, [...path, index], own))
  else if (isJsonObject(value)) for (const [name, child] of Object.entries(value)) ownAll(child, [...path, name], own)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
