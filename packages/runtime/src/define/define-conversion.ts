import { type AnyKind, formatGroupKind, type Infer, resourceOf } from '@kubewright/api'
import type { DeepReadonly } from '@kubewright/base'

/**
 * What a conversion returns: the fields of the other version. Name, namespace and all other metadata stay as they are; labels and
 * annotations may be given to keep what the other version has no field for, and stay as they are when they are not. Keep something only
 * when there is something to keep: an annotation that appears on the way back is a change too.
 */
export type Converted<K extends AnyKind> = DeepReadonly<
  Omit<K['$write'], 'apiVersion' | 'kind' | 'metadata' | 'status'>
> & {
  readonly status?: DeepReadonly<K['$status']> | undefined
  readonly metadata?: {
    readonly labels?: Readonly<Record<string, string>> | undefined
    readonly annotations?: Readonly<Record<string, string>> | undefined
  }
}

/** The two ways between a version and the hub. Both are pure, and the one undoes the other. */
export interface SpokeConversion<S extends AnyKind, Hub extends AnyKind> {
  toHub(object: Infer<S>): Converted<Hub>
  fromHub(object: Infer<Hub>): Converted<S>
}

/** A version that is converted by way of the hub. */
export interface Spoke<Hub extends AnyKind> {
  readonly kind: AnyKind
  readonly toHub: (object: never) => Converted<Hub>
  readonly fromHub: (object: Infer<Hub>) => object
}

/** Says how a version is converted to the hub and back; see {@link defineConversion}. */
export function spoke<S extends AnyKind, Hub extends AnyKind>(
  kind: S,
  conversion: SpokeConversion<S, Hub>,
): Spoke<Hub> {
  return Object.freeze({
    kind,
    toHub: (object: never) => conversion.toHub(object),
    fromHub: (object: Infer<Hub>) => conversion.fromHub(object),
  })
}

/** One way of a conversion, without types. */
export type ConvertFields = (object: object) => object

/** A conversion between the versions of a resource as an inspectable value. */
export interface Conversion {
  readonly name: string
  readonly hub: AnyKind
  readonly spokes: readonly {
    readonly kind: AnyKind
    readonly toHub: ConvertFields
    readonly fromHub: ConvertFields
  }[]
}

/**
 * Describes how the versions of a resource are converted into each other: one of them is the hub, and every other one says how it is
 * converted to the hub and back. The API server asks for conversions when objects are read in another version than they are stored in.
 *
 * @example
 * export const homeConversion = defineConversion(Home, [
 *   spoke(Home.versions.v1beta1, {
 *     toHub: ({ spec }) => ({ spec: { image: spec.container } }),
 *     fromHub: ({ spec }) => ({ spec: { container: spec.image } }),
 *   }),
 * ])
 */
export function defineConversion<Hub extends AnyKind>(hub: Hub, spokes: readonly Spoke<Hub>[]): Conversion {
  const problem = problemOf(
    hub,
    spokes.map((one) => one.kind),
  )
  if (problem !== undefined) throw new TypeError(`Cannot define conversion of ${formatGroupKind(hub)} as ${problem}`)
  // What the objects are is checked where they come from: by their apiVersion.
  return Object.freeze({
    name: hub.kind.toLowerCase(),
    hub,
    spokes: Object.freeze(
      spokes.map(({ kind, toHub, fromHub }) => ({
        kind,
        toHub: toHub as unknown as ConvertFields,
        fromHub: fromHub as unknown as ConvertFields,
      })),
    ),
  })
}

function problemOf(hub: AnyKind, spokes: readonly AnyKind[]): string | undefined {
  const seen = new Set([hub.version])
  for (const { group, kind, version } of spokes) {
    if (group !== hub.group || kind !== hub.kind) {
      return `the spoke ${formatGroupKind({ group, kind })} is another kind: a conversion is between versions of one`
    }
    if (seen.has(version)) {
      const what = version === hub.version ? 'is the hub' : 'has two spokes'
      return `version ${version} ${what}: give each of the other versions one spoke`
    }
    seen.add(version)
  }
  const versions = resourceOf(hub)?.versions.map((version) => version.name) ?? []
  const missing = versions.filter((version) => !seen.has(version))
  if (missing.length > 0) return `version ${missing.join(', ')} has no spoke: add one for it`
  // A resource that was defined with one version has definitions of the others elsewhere, which one manifest cannot hold.
  if (versions.length > 0 && seen.size > versions.length) {
    const extra = [...seen].filter((version) => !versions.includes(version))
    return `the hub's definition does not know version ${extra.join(', ')}: define them together with 'versions'`
  }
  return spokes.length === 0 ? `it has no other version: add a spoke for each` : undefined
}
