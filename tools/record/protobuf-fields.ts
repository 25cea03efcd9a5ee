// Reads the names and numbers of protobuf fields from the generated.proto files of Kubernetes.
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { lineTable } from '../../packages/k8s/src/internal/line-table.ts'
import { folderOfPackage } from './go-types.ts'

/**
 * Returns the fields by package: one line per message with the JSON names by ascending number, in the notation of
 * codec/generated/protobuf-fields.ts. `goTypes` are the declarations of the same checkout: only their messages are included.
 */
export function protobufFieldsIn(checkout: string, goTypes: Readonly<Record<string, string>>): Record<string, string> {
  const packages: Record<string, string> = {}
  for (const [key, declarations] of Object.entries(goTypes)) {
    const file = join(checkout, 'staging/src/k8s.io', folderOfPackage(key), 'generated.proto')
    if (!existsSync(file)) continue
    const structs = jsonNamesOf(declarations)
    const lines: string[] = []
    for (const { name, fields } of messagesIn(readFileSync(file, 'utf8'))) {
      const names = structs.get(name)
      if (names) lines.push(writeMessage(name, fields, names))
    }
    if (lines.length > 0) packages[key] = lines.sort().join('\n')
  }
  return packages
}

interface ProtoField {
  readonly type: string
  readonly name: string
  readonly number: number
}

function messagesIn(source: string): { readonly name: string; readonly fields: readonly ProtoField[] }[] {
  const text = source.replace(/^\s*\/\/.*$/gm, '')
  return [...text.matchAll(/^message (\w+) \{\n([\s\S]*?)^\}/gm)].map(([, name, body]) => ({
    name: name!,
    fields: [...body!.matchAll(/^\s*(?:optional |repeated |required )?(map<[^>]*>|[\w.]+) (\w+) = (\d+);/gm)]
      .map(([, type, field, number]) => ({ type: type!, name: field!, number: Number(number) }))
      .sort((a, b) => a.number - b.number),
  }))
}

/** The JSON names of the fields of each struct, by their letters in lower case. Embedded structs have their own entry. */
function jsonNamesOf(declarations: string): Map<string, Map<string, string>> {
  const structs = new Map<string, Map<string, string>>()
  const entry = (name: string): Map<string, string> => {
    const known = structs.get(name) ?? new Map<string, string>()
    structs.set(name, known)
    return known
  }
  for (const line of declarations.split('\n')) {
    const name = line.split(/[ =]/, 1)[0]!
    // The only field of a named list.
    if (line[name.length] === '=') entry(name).set('items', 'items')
    else entry(name)
    for (const field of line.split(' ').slice(1)) {
      const [head = ''] = field.split(':')
      const caret = head.indexOf('^')
      const json = head.slice(caret + 1).replace(/\?+$/, '')
      const owner = caret < 0 ? name : head.slice(0, caret).split('.').at(-1)!
      entry(owner).set(lettersOf(json), json)
    }
  }
  return structs
}

const lettersOf = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '')

function writeMessage(message: string, fields: readonly ProtoField[], names: ReadonlyMap<string, string>): string {
  const named = fields.map(({ type, name, number }): [number, string] => {
    return [number, names.get(lettersOf(name)) ?? `+${type.slice(type.lastIndexOf('.') + 1)}`]
  })
  return writeFields(message, new Map(named))
}

/** The fields of both. Numbers are never used twice, so every number has one name. */
export function joinedFields(
  first: Readonly<Record<string, string>>,
  second: Readonly<Record<string, string>>,
): Record<string, string> {
  const joined: Record<string, string> = {}
  for (const key of [...new Set([...Object.keys(first), ...Object.keys(second)])].sort()) {
    const lines = lineTable(first[key] ?? '')
    for (const [name, line] of lineTable(second[key] ?? '')) {
      lines.set(name, writeFields(name, new Map([...numbersOf(lines.get(name) ?? name), ...numbersOf(line)])))
    }
    joined[key] = [...lines.values()].sort().join('\n')
  }
  return joined
}

/** The names of the fields of a line, by number. */
function numbersOf(line: string): Map<number, string> {
  let number = 0
  const fields = new Map<number, string>()
  for (const word of line.split(' ').slice(1)) {
    const colon = word.indexOf(':')
    number = colon < 0 ? number + 1 : Number(word.slice(0, colon))
    fields.set(number, word.slice(colon + 1))
  }
  return fields
}

function writeFields(message: string, fields: ReadonlyMap<number, string>): string {
  let previous = 0
  const words = [...fields]
    .sort(([a], [b]) => a - b)
    .map(([number, name]) => {
      const stated = number === previous + 1 ? name : `${number}:${name}`
      previous = number
      return stated
    })
  return [message, ...words].join(' ')
}
