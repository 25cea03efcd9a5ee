// The notation of schemas in the generated tables: one definition per line, consisting of words separated by single
// spaces.
//
//   ContainerPort !containerPort containerPort:int32=0 hostIP:string protocol:string(SCTP|TCP|UDP)="TCP"
//
// The first word is the local name. These optional words follow:
// - `!a,b`: required fields
// - `^atomic`: map type
// - `&group/version,…`: the versions in which the definition is a kind
// - `+json`: unions
//
// The other words are fields, `name:shape`. A shape is a scalar name, the name of a definition, `[shape]` for a list,
// or `<shape>` for a map. A definition of another table has the key of the table as prefix (`meta/v1.Time`); `$` marks
// a reference that was published without allOf. A shape may be followed by:
// - `(a|b)`: enum; a space in a value is written as `_`
// - `=json`: default
// - `%type(keys)`: list type and keys
// - `^type`: map type
// - `~strategy(key)`: patch strategy and merge key

/** A field, list element or map value of a definition. */
export interface Shape {
  /** The scalar type. Absent for references, lists, maps and `any`. */
  readonly type?: string | undefined
  readonly format?: string | undefined
  /** A local name, or `table.Name` for a definition of another table. */
  readonly ref?: string | undefined
  readonly bareRef?: boolean | undefined
  readonly items?: Shape | undefined
  readonly values?: Shape | undefined
  readonly enum?: readonly string[] | undefined
  readonly default?: unknown
  readonly listType?: string | undefined
  readonly listMapKeys?: readonly string[] | undefined
  readonly mapType?: string | undefined
  readonly patchStrategy?: string | undefined
  readonly patchMergeKey?: string | undefined
}

/** A named struct of the API. */
export interface Definition {
  readonly name: string
  readonly required: readonly string[]
  readonly fields: ReadonlyMap<string, Shape>
  readonly mapType?: string | undefined
  /** The `group/version` of each version in which this is a kind. */
  readonly kindOf?: readonly string[] | undefined
  readonly unions?: unknown
}

/** The names of scalars with their types and formats. */
export const SCALARS: Readonly<Record<string, Shape>> = {
  string: { type: 'string' },
  bytes: { type: 'string', format: 'byte' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  double: { type: 'number', format: 'double' },
  bool: { type: 'boolean' },
  object: { type: 'object' },
}

const SUFFIX = /\(([^)]*)\)|=("[^"]*"|[^\]>%^~]+)|%(\w+)(?:\(([^)]*)\))?|\^(\w+)|~([\w,]+)(?:\((\w+)\))?/y
const WORD = /\$?[\w./]+/y

/** Parses one line of a table. */
export function parseDefinition(line: string): Definition {
  const words = line.split(' ')
  let required: readonly string[] = []
  const head: { mapType?: string | undefined; kindOf?: readonly string[] | undefined; unions?: unknown } = {}
  const fields = new Map<string, Shape>()
  for (let i = 1; i < words.length; i++) {
    const word = words[i]!
    const rest = word.slice(1)
    if (word[0] === '!') required = rest.split(',')
    else if (word[0] === '^') head.mapType = rest
    else if (word[0] === '&') head.kindOf = rest.split(',')
    else if (word[0] === '+') head.unions = JSON.parse(rest)
    else {
      const colon = word.indexOf(':')
      fields.set(word.slice(0, colon), parseShape(word, colon + 1))
    }
  }
  return { name: words[0]!, required, fields, ...head }
}

/** Parses the shape that starts at an index and ends at the end of the word. */
export function parseShape(word: string, start = 0): Shape {
  const reader = { word, at: start }
  const shape = readShape(reader)
  if (reader.at !== word.length)
    throw new SyntaxError(`Cannot parse the shape of "${word}": unexpected text at offset ${reader.at}`)
  return shape
}

function readShape(reader: { readonly word: string; at: number }): Shape {
  const { word } = reader
  const shape: { -readonly [K in keyof Shape]: Shape[K] } = {}
  const open = word[reader.at]
  if (open === '[' || open === '<') {
    reader.at++
    shape[open === '[' ? 'items' : 'values'] = readShape(reader)
    reader.at++ // the closing bracket
  } else {
    WORD.lastIndex = reader.at
    const name = WORD.exec(word)?.[0]
    if (name === undefined)
      throw new SyntaxError(`Cannot parse the shape of "${word}": expected a type at offset ${reader.at}`)
    reader.at += name.length
    if (Object.hasOwn(SCALARS, name)) Object.assign(shape, SCALARS[name])
    else if (name[0] === '$') Object.assign(shape, { ref: name.slice(1), bareRef: true })
    else shape.ref = name
  }
  for (;;) {
    SUFFIX.lastIndex = reader.at
    const match = SUFFIX.exec(word)
    if (match === null) return shape
    reader.at = SUFFIX.lastIndex
    const [, values, fallback, listType, keys, mapType, strategy, mergeKey] = match
    if (values !== undefined) shape.enum = values.replaceAll('_', ' ').split('|')
    else if (fallback !== undefined) shape.default = JSON.parse(fallback)
    else if (listType !== undefined) {
      shape.listType = listType
      if (keys !== undefined) shape.listMapKeys = keys.split(',')
    } else if (mapType !== undefined) shape.mapType = mapType
    else if (strategy !== undefined) {
      shape.patchStrategy = strategy
      if (mergeKey !== undefined) shape.patchMergeKey = mergeKey
    }
  }
}
