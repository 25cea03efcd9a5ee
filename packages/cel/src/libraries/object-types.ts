// The types with which mutating admission policies write configurations to apply: `Object`, `Object.spec` and so on
// (apiserver/pkg/cel/mutation). They have every field, and any value fits.

import type { CelLibrary, CelTypeDeclaration } from '../define/library.ts'
import { type CelType, DYN, structType } from '../values/cel-type.ts'
import { CelList, CelMap } from '../values/collections.ts'
import { celEquals } from '../values/equality.ts'
import { toNative } from '../values/native.ts'
import { CelOpaque, type CelValue } from '../values/values.ts'

/** The type of the whole object. */
export const OBJECT_TYPE: CelType = structType('Object')

/** A part of an object, as `Object.spec{replicas: 3}` creates it. */
export class CelObject extends CelOpaque {
  readonly type: CelType
  readonly #fields: ReadonlyMap<string, CelValue>

  constructor(type: CelType, fields: ReadonlyMap<string, CelValue>) {
    super()
    this.type = type
    this.#fields = fields
  }

  equals(other: CelValue): boolean {
    if (!(other instanceof CelObject) || other.type.name !== this.type.name) return false
    if (other.#fields.size !== this.#fields.size) return false
    return [...this.#fields].every(([name, value]) => {
      const same = other.#fields.get(name)
      return same !== undefined && celEquals(value, same)
    })
  }

  override field(name: string): CelValue | undefined {
    return this.#fields.get(name)
  }

  override toNative(): Record<string, unknown> {
    return Object.fromEntries([...this.#fields].map(([name, value]) => [name, toNative(value)]))
  }

  /** The problems of parts whose type does not name the path at which they stand; lists and maps do not count as steps. */
  typeProblems(): readonly string[] {
    const problems: string[] = []
    const visit = (value: CelValue, path: string): void => {
      if (value instanceof CelObject) {
        const { name } = value.type
        if (name !== path) {
          problems.push(
            `unexpected type name ${JSON.stringify(name)}, expected ${JSON.stringify(path)}, which matches field name path from root Object type`,
          )
        }
        for (const [field, part] of value.#fields) visit(part, `${path}.${field}`)
      } else if (value instanceof CelList) for (const item of value.toArray()) visit(item, path)
      else if (value instanceof CelMap) for (const key of value.keys()) visit(value.get(key)!, path)
    }
    visit(this, this.type.name)
    return problems
  }
}

const anyField: Readonly<Record<string, CelType>> = new Proxy({}, { get: () => DYN, has: () => true })

/** The types `Object` and `Object.PATH`. Only mutating admission policies may use them. */
export const objectTypesLibrary: CelLibrary = {
  name: 'kubernetes.mutation',
  resolveType: (name): CelTypeDeclaration | undefined => {
    if (name !== OBJECT_TYPE.name && !name.startsWith(`${OBJECT_TYPE.name}.`)) return undefined
    const type = structType(name)
    return { type, fields: anyField, construct: (fields) => new CelObject(type, fields) }
  },
}
