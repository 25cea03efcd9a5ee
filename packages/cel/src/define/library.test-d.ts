import { CelEnvironment } from '../environment.ts'
import { type CelSchema, declareSchema } from '../index.ts'
import { INT, STRING } from '../values/cel-type.ts'
import type { CelValue } from '../values/values.ts'
import type { CelLibrary } from './library.ts'

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const assertType = <T extends true>(): T | undefined => undefined

// Implementations may declare the parameter types of their overload.
export const library: CelLibrary = {
  name: 'typed',
  functions: [
    {
      name: 'repeat',
      overloads: [
        {
          id: 'string_repeat_int',
          args: [STRING, INT],
          result: STRING,
          member: true,
          evaluate: (s: string, n: number) => s.repeat(n),
        },
        // @ts-expect-error a result must be a CEL value
        { id: 'broken', args: [STRING], result: STRING, evaluate: (s: string) => new Map([[s, s]]) },
        // @ts-expect-error parameters must be CEL values
        { id: 'odd', args: [STRING], result: STRING, evaluate: (s: symbol) => String(s) },
      ],
    },
  ],
}

// A schema in plain data needs no type annotation.
const schema = { type: 'object', properties: { a: { type: 'array', items: { type: 'string' }, maxItems: 3 } } } as const
declareSchema(schema)
export const annotated: CelSchema = schema
// @ts-expect-error a type is a string
declareSchema({ type: 5 })

const value = CelEnvironment.create().compile('1').evaluate({})
assertType<Equal<typeof value, CelValue>>()

// @ts-expect-error environments are created by create()
new CelEnvironment({})
