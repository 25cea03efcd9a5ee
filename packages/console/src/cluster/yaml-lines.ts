import { encodeYaml } from '@kubewright/api'
import { isJsonObject } from '@kubewright/base'
import type { FieldPath } from './field-path.ts'
import type { Json } from './json.ts'

/** A line of YAML and the path of the field that it belongs to. */
export interface PathLine {
  readonly text: string
  readonly path: FieldPath
}

/** The lines of an object's YAML as kubectl prints it, except that long texts may be folded elsewhere. */
export function yamlLines(object: Json): PathLine[] {
  const lines: PathLine[] = []
  writeMap(object, [], '', '', lines)
  return lines
}

/** `lead` replaces the indentation of the first line, for a map that starts after a dash. */
function writeMap(map: Json, path: FieldPath, indent: string, lead: string, lines: PathLine[]): void {
  let start = lead
  for (const key of Object.keys(map).sort()) {
    const value = map[key]
    if (value === undefined) continue
    const here = [...path, key]
    if (isNested(value)) {
      // The encoder decides how the key is quoted.
      lines.push({ text: `${start}${encodeYaml({ [key]: null }).replace(/ null\n$/, '')}`, path: here })
      if (Array.isArray(value)) writeList(value, here, indent, lines)
      else writeMap(value as Json, here, `${indent}  `, `${indent}  `, lines)
    } else writeText(encodeYaml({ [key]: value }), here, indent, start, lines)
    start = indent
  }
}

function writeList(list: readonly unknown[], path: FieldPath, indent: string, lines: PathLine[]): void {
  list.forEach((item, index) => {
    const here = [...path, index]
    if (isJsonObject(item) && isNested(item)) writeMap(item, here, `${indent}  `, `${indent}- `, lines)
    // A list in a list is rare: all of its lines belong to the item.
    else writeText(encodeYaml(item), here, `${indent}  `, `${indent}- `, lines)
  })
}

function writeText(text: string, path: FieldPath, indent: string, lead: string, lines: PathLine[]): void {
  text
    .replace(/\n$/, '')
    .split('\n')
    .forEach((line, index) => void lines.push({ text: `${index === 0 ? lead : indent}${line}`, path }))
}

const isNested = (value: unknown): boolean =>
  Array.isArray(value) ? value.length > 0 : isJsonObject(value) && Object.keys(value).length > 0
