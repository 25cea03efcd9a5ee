// The functions and types with which mutating admission policies create JSON patches: jsonpatch.escapeKey and the type
// JSONPatch (apiserver/pkg/cel/library/jsonpatch.go and pkg/cel/mutation/jsonpatch.go).

import { type CelLibrary, defineLibrary } from '../define/library.ts'
import { CelError } from '../values/cel-error.ts'
import { type CelType, DYN, STRING, structType } from '../values/cel-type.ts'
import { celEquals } from '../values/equality.ts'
import { CelOpaque, type CelValue, typeOf } from '../values/values.ts'
import { traversalOfFirst } from './cost-rules.ts'

/** The type of one operation of a JSON patch, written as `JSONPatch{op: "add", path: "/spec/x", value: 1}`. */
export const JSON_PATCH_TYPE: CelType = structType('JSONPatch')

/** One operation of a JSON patch as a CEL value. Unset fields are empty. */
export class CelJSONPatch extends CelOpaque {
  readonly type: CelType = JSON_PATCH_TYPE
  readonly op: string
  readonly path: string
  readonly from: string
  /** `undefined` if unset. */
  readonly value: CelValue | undefined

  constructor(fields: ReadonlyMap<string, CelValue>) {
    super()
    this.op = textField(fields, 'op')
    this.path = textField(fields, 'path')
    this.from = textField(fields, 'from')
    this.value = fields.get('value')
  }

  equals(other: CelValue): boolean {
    if (!(other instanceof CelJSONPatch)) return false
    if (this.op !== other.op || this.path !== other.path || this.from !== other.from) return false
    if (this.value === undefined || other.value === undefined) return this.value === other.value
    return celEquals(this.value, other.value)
  }

  override field(name: string): CelValue | undefined {
    if (name === 'op' || name === 'path' || name === 'from') return this[name]
    return name === 'value' ? (this.value ?? null) : undefined
  }
}

/** jsonpatch.escapeKey and the type JSONPatch. Only mutating admission policies may use them. */
export const jsonPatchLibrary: CelLibrary = defineLibrary('kubernetes.jsonpatch', () => ({
  types: [
    {
      type: JSON_PATCH_TYPE,
      fields: { op: STRING, path: STRING, from: STRING, value: DYN },
      construct: (fields) => new CelJSONPatch(fields),
    },
  ],
  functions: [
    {
      name: 'jsonpatch.escapeKey',
      cost: traversalOfFirst({ keepsSize: true }),
      overloads: [
        {
          id: 'string_jsonpatch_escapeKey_string',
          args: [STRING],
          result: STRING,
          evaluate: (key: string) => key.replace(/[~/]/g, (char) => (char === '~' ? '~0' : '~1')),
        },
      ],
    },
  ],
}))

function textField(fields: ReadonlyMap<string, CelValue>, name: string): string {
  const value = fields.get(name)
  if (value === undefined) return ''
  if (typeof value !== 'string') {
    throw new CelError(`unexpected type ${typeOf(value).name} for JSONPatchType '${name}' field`)
  }
  return value
}
