import { type AnyKind, createKind, type Infer, type Kind, type KubeObject, type TypeMeta } from '@kubewright/api'
import { isJsonObject } from '@kubewright/base'
import type { PathOf } from '@kubewright/schema'

/** The type of the fields on one path, with their modifiers. */
type Kept<T, P extends string> = P extends `${infer Head}.${infer Rest}`
  ? { readonly [K in keyof T as Extract<K, Head>]: Kept<NonNullable<T[K]>, Rest> | Extract<T[K], undefined | null> }
  : { readonly [K in keyof T as Extract<K, P>]: T[K] }

type Intersection<U> = (U extends unknown ? (value: U) => void : never) extends (value: infer I) => void ? I : never

/** A projected object: apiVersion, kind, metadata and the fields at the paths. */
export type Projected<Read, P extends string> = Readonly<TypeMeta> & {
  readonly metadata: Read extends { readonly metadata: infer M } ? M : never
} & Intersection<P extends string ? Kept<Read, P> : never>

/** A kind of which caches hold only some fields. It can be read and watched; writes need the full kind. */
export type ProjectedKind<K extends AnyKind, P extends string> = Kind<Projected<Infer<K>, P>, never, never>

type Keep = (object: KubeObject) => KubeObject

interface Projection {
  readonly paths: readonly string[]
  readonly keep: Keep
}

const projections = new WeakMap<object, Projection>()

/**
 * Returns a kind of which caches hold only the metadata and the fields at these paths. The other fields use no memory,
 * and reading them is a compile error. Readers with equal paths share a store. A client reads a projected kind from the
 * API server when no store has it.
 */
export function project<K extends AnyKind, const P extends PathOf<Infer<K>>>(
  kind: K,
  paths: readonly P[],
): ProjectedKind<K, P> {
  const { group, version, plural, singular, listKind, scope, shortNames, categories, subresources } = kind
  const made = createKind<Projected<Infer<K>, P>, never, never>({
    group,
    version,
    kind: kind.kind,
    plural,
    singular,
    listKind,
    scope,
    shortNames,
    categories,
    subresources,
    schema: () => kind.schema,
  })
  const sorted = [...new Set<string>(paths)].sort()
  projections.set(made, { paths: sorted, keep: keeper(sorted) })
  return made
}

/** The projection of a kind; undefined for full kinds. */
export function projectionOf(kind: AnyKind): Projection | undefined {
  return projections.get(kind)
}

interface Branch {
  [field: string]: Branch | true
}

function keeper(paths: readonly string[]): Keep {
  const tree: Branch = {}
  for (const path of paths) {
    let branch = tree
    const fields = path.split('.')
    for (const [index, field] of fields.entries()) {
      const known = branch[field]
      // A shorter path that is already kept includes this one.
      if (known === true) break
      if (index === fields.length - 1) branch[field] = true
      else branch = branch[field] = known ?? {}
    }
  }
  return (object) => {
    const { apiVersion, kind, metadata } = object
    return { ...pick(object, tree), apiVersion, kind, metadata }
  }
}

function pick(value: object, tree: Branch): object {
  const out: Record<string, unknown> = {}
  for (const [field, branch] of Object.entries(tree)) {
    const found = (value as Record<string, unknown>)[field]
    if (found === undefined) continue
    const isPart = branch !== true && isJsonObject(found)
    out[field] = isPart ? pick(found, branch) : found
  }
  return out
}
