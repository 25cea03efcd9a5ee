import { type AnyKind, type DraftParts, formatGroupKind, type Infer, resourceOf, type TypeMeta } from '@kubewright/api'
import { type ConvertibleObject, convertObject } from './convert-object.ts'

/**
 * The result of a conversion: the fields of the other version. All metadata is preserved. Return labels or annotations
 * only to store what the other version has no field for; without them, the existing ones are preserved. Optional fields
 * may be `undefined`. Add an
 * annotation only when there is something to store: an annotation that appears in a round trip counts as a change.
 */
export type Converted<K extends AnyKind> = DraftParts<
  Omit<K['$write'], 'apiVersion' | 'kind' | 'metadata' | 'status'>
> & {
  readonly status?: DraftParts<K['$status']> | undefined
  readonly metadata?:
    | {
        readonly labels?: Readonly<Record<string, string>> | undefined
        readonly annotations?: Readonly<Record<string, string>> | undefined
      }
    | undefined
}

/** The conversions between a version and the hub. Both must be pure and inverse to each other. */
export interface SpokeConversion<S extends AnyKind, Hub extends AnyKind> {
  toHub(object: Infer<S>): Converted<Hub>
  fromHub(object: Infer<Hub>): Converted<S>
}

/** A version that is converted through the hub. */
export interface Spoke<Hub extends AnyKind> {
  readonly kind: AnyKind
  readonly toHub: (object: never) => Converted<Hub>
  readonly fromHub: (object: Infer<Hub>) => object
}

/** A spoke whose functions have the types of both versions, so that unit tests can call them. */
export interface SpokeOf<S extends AnyKind, Hub extends AnyKind> extends Spoke<Hub> {
  readonly kind: S
  readonly toHub: (object: Infer<S>) => Converted<Hub>
  readonly fromHub: (object: Infer<Hub>) => Converted<S>
}

/** Defines how a version is converted to the hub and back; see {@link defineConversion}. */
export function spoke<S extends AnyKind, Hub extends AnyKind>(
  kind: S,
  conversion: SpokeConversion<S, Hub>,
): SpokeOf<S, Hub> {
  return Object.freeze({
    kind,
    toHub: (object: Infer<S>) => conversion.toHub(object),
    fromHub: (object: Infer<Hub>) => conversion.fromHub(object),
  })
}

/** One direction of a conversion, without types. */
export type ConvertFields = (object: object) => object

/** The definition of a conversion between the versions of a resource. */
export interface Conversion {
  readonly name: string
  readonly hub: AnyKind
  readonly spokes: readonly {
    readonly kind: AnyKind
    readonly toHub: ConvertFields
    readonly fromHub: ConvertFields
  }[]
  /**
   * Converts an object to another version, through the hub if needed, as the operator answers the API server. The API
   * server then prunes the result and sets its defaults, which this function does not.
   */
  readonly convert: <K extends AnyKind>(
    object: Readonly<TypeMeta> & { readonly metadata?: object | undefined },
    to: K,
  ) => Infer<K>
}

/**
 * Defines how the versions of a resource are converted. One version is the hub; each other version defines how it is
 * converted to the hub and back. The API server calls the conversion when an object is read or written in another
 * version than the stored one.
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
  // Objects are matched to spokes by their apiVersion, so the types can be dropped here.
  const conversion: Conversion = Object.freeze({
    name: hub.kind.toLowerCase(),
    hub,
    spokes: Object.freeze(
      spokes.map(({ kind, toHub, fromHub }) => ({
        kind,
        toHub: toHub as unknown as ConvertFields,
        fromHub: fromHub as unknown as ConvertFields,
      })),
    ),
    convert: <K extends AnyKind>(object: Readonly<TypeMeta> & { readonly metadata?: object | undefined }, to: K) =>
      convertObject([conversion], object as ConvertibleObject, to.apiVersion) as unknown as Infer<K>,
  })
  return conversion
}

function problemOf(hub: AnyKind, spokes: readonly AnyKind[]): string | undefined {
  const seen = new Set([hub.version])
  for (const { group, kind, version } of spokes) {
    if (group !== hub.group || kind !== hub.kind) {
      return `the spoke ${formatGroupKind({ group, kind })} is another kind: a conversion covers the versions of one kind`
    }
    if (seen.has(version)) {
      const what = version === hub.version ? 'is the hub' : 'has two spokes'
      return `version ${version} ${what}: add exactly one spoke for each other version`
    }
    seen.add(version)
  }
  const versions = resourceOf(hub)?.versions.map((version) => version.name) ?? []
  const missing = versions.filter((version) => !seen.has(version))
  if (missing.length > 0) return `version ${missing.join(', ')} has no spoke: add one for it`
  // One CRD holds all versions, so they must be defined together.
  if (versions.length > 0 && seen.size > versions.length) {
    const extra = [...seen].filter((version) => !versions.includes(version))
    return `the definition of the hub lacks version ${extra.join(', ')}: define all versions together with 'versions'`
  }
  return spokes.length === 0 ? `it has no spokes: add one for each other version` : undefined
}
