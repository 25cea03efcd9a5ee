import type { DeepMutable, DeepReadonly } from './deep-readonly.ts'
import type { Duration } from './duration.ts'

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
type Expect<T extends true> = T

interface Home {
  spec: { replicas: number; args: string[]; pair: [a: number, b: { c: string }] }
  labels?: Record<string, string>
  at: bigint | null
  brand: string & { readonly __brand: 'uid' }
  call: (x: { y: number }) => void
}

type Json = string | number | null | Json[] | { [key: string]: Json }
interface JsonList extends Array<JsonList | string> {}

declare const home: DeepReadonly<Home>

export type Cases = [
  Expect<Equal<DeepReadonly<string[]>, readonly string[]>>,
  Expect<Equal<DeepReadonly<{ a: { b: number }[] }>, { readonly a: readonly { readonly b: number }[] }>>,
  Expect<Equal<DeepReadonly<Home>['spec']['pair'], readonly [a: number, b: { readonly c: string }]>>,
  Expect<Equal<DeepReadonly<Home>['at'], bigint | null>>,
  Expect<Equal<DeepReadonly<Home>['brand'], Home['brand']>>,
  Expect<Equal<DeepReadonly<Home>['call'], Home['call']>>,
  Expect<Equal<DeepReadonly<unknown>, unknown>>,
  Expect<Equal<DeepMutable<DeepReadonly<Home>>['spec'], Home['spec']>>,
  Expect<Equal<DeepMutable<readonly { readonly a: readonly number[] }[]>, { a: number[] }[]>>,
  Expect<Equal<DeepReadonly<JsonList>[number], string | readonly (string | DeepReadonly<JsonList>)[]>>,
  Expect<DeepMutable<DeepReadonly<Json>> extends Json ? true : false>,
]

// @ts-expect-error read-only at depth
home.spec.replicas = 2
// @ts-expect-error arrays have no mutating methods
home.spec.args.push('x')
// @ts-expect-error index signatures too
home.labels!['a'] = 'b'

export const durations: Duration[] = [100, '30s', '1.5h', '250ms', '-5m']
// @ts-expect-error days are not a unit
export const days: Duration = '5d'
// @ts-expect-error a unit is needed
export const bare: Duration = '5'
