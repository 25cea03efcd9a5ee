import { type AnyKind, createJsonPatch, encodeJson, parseJson, type TypeMeta } from '@kubewright/api'
import { deepCopy, deepFreeze, KubewrightError, type Random, type Seed, seededRandom, uuid } from '@kubewright/base'
import { compileSchema, type StructuralSchema } from '@kubewright/schema'
import { type ConvertibleObject, convertObject } from '../../define/convert-object.ts'
import type { Conversion } from '../../define/define-conversion.ts'
import { shrinkObject } from './shrink-object.ts'
import { ValueGenerator } from './value-generator.ts'

/** Options of {@link checkConversion}. */
export interface CheckConversionOptions {
  /** The number of generated objects per direction. @default 100 */
  readonly runs?: number | undefined
  /** The same seed generates the same objects. @default 1 */
  readonly seed?: Seed | undefined
  /** Further objects to convert, in any version: drafts such as `Home({ … })`, objects that were read, or samples. */
  readonly examples?: readonly Readonly<TypeMeta>[] | undefined
  /**
   * Generators of fields whose values the schema does not describe well enough, by path, such as `spec.schedule` or
   * `spec.ports[].name`. A path applies to each version that has the field.
   */
  readonly generators?: Readonly<Record<string, (random: Random) => unknown>> | undefined
  /**
   * Whether the API server would accept a generated object, for rules outside the schema, such as those of a webhook.
   * Objects that are not accepted are not converted. @default all that the schema accepts
   */
  readonly accept?: ((object: ConvertibleObject) => boolean) | undefined
}

/** The result of {@link checkConversion}. */
export interface ConversionReport {
  /** The number of round trips. */
  readonly roundTrips: number
}

/** The maximum number of attempts to generate an object that the schema's rules accept. */
const maxAttempts = 100
/** The fields that a conversion can change. */
const changeable = ['metadata', 'spec', 'status']

/**
 * Checks that a conversion is lossless: converts generated objects from the hub to each spoke and back, and from each
 * spoke to the hub and back, and compares the results. As the API server does, it drops unknown fields and sets
 * defaults in between. Throws a `KW_CONVERSION` error with the smallest failing example.
 *
 * @example
 * test('nothing is lost between versions', () => {
 *   checkConversion(homeConversion)
 * })
 */
export function checkConversion(conversion: Conversion, options: CheckConversionOptions = {}): ConversionReport {
  const { seed = 1 } = options
  let roundTrips = 0
  for (const { trip, object } of roundTripsOf(conversion, options)) {
    if (trip.problemWith(object) !== undefined) throw trip.error(object, seed)
    roundTrips++
  }
  return { roundTrips }
}

/** A change of a field in a round trip between two versions. */
export interface ConversionLoss {
  /** The version of the object before and after the round trip. */
  readonly from: string
  /** The version in between. */
  readonly via: string
  /** `spec.ports[].name`; empty if the conversion throws. */
  readonly path: string
  readonly change: 'is lost' | 'changes' | 'appears' | 'throws'
  /** The message of the error; empty for other changes. */
  readonly message: string
}

/**
 * All fields that a conversion loses or changes, each once per direction, found by the round trips of
 * {@link checkConversion}. Empty for a lossless conversion.
 */
export function conversionLosses(
  conversion: Conversion,
  options: CheckConversionOptions = {},
): readonly ConversionLoss[] {
  const losses = new Map<string, ConversionLoss>()
  for (const { trip, object } of roundTripsOf(conversion, options)) {
    for (const loss of trip.lossesOf(object)) losses.set(JSON.stringify(loss), loss)
  }
  return [...losses.values()]
}

/** The round trips of all examples and generated objects, in both directions between the hub and each spoke. */
function* roundTripsOf(
  conversion: Conversion,
  options: CheckConversionOptions,
): Generator<{ readonly trip: RoundTrip; readonly object: ConvertibleObject }> {
  const { runs = 100, seed = 1 } = options
  // Conversions use no types.
  const examples = (options.examples ?? []) as readonly ConvertibleObject[]
  const random = seededRandom(seed)
  const versions = [conversion.hub, ...conversion.spokes.map(({ kind }) => kind)].map(
    (kind) => new Version(kind, options),
  )
  for (const { apiVersion, kind } of examples) {
    if (versions.some((version) => version.kind.apiVersion === apiVersion && version.kind.kind === kind)) continue
    const known = versions.map((version) => version.kind.apiVersion).join(', ')
    throw new KubewrightError(
      'KW_CONVERSION',
      `Cannot check the conversion of ${conversion.hub.kind} with the example of ${apiVersion} ${kind}: its versions are ${known}`,
    )
  }
  const [hub, ...spokes] = versions as [Version, ...Version[]]
  for (const spoke of spokes) {
    for (const [from, via] of [
      [hub, spoke],
      [spoke, hub],
    ] as const) {
      const trip = new RoundTrip(conversion, from, via)
      const given = examples.filter(({ apiVersion }) => apiVersion === from.kind.apiVersion)
      const stream = random.fork(`${from.kind.version} via ${via.kind.version}`)
      for (let run = 0; run < runs + given.length; run++) {
        const object = given[run] === undefined ? from.generate(stream) : from.normalized(given[run]!)
        yield { trip, object }
      }
    }
  }
}

/** A version, with functions that generate and check its objects. */
class Version {
  readonly kind: AnyKind
  readonly #schema: StructuralSchema
  readonly #generators: [path: string[], make: (random: Random) => unknown][]
  readonly #accept: (object: ConvertibleObject) => boolean

  constructor(kind: AnyKind, { generators = {}, accept = () => true }: CheckConversionOptions) {
    this.kind = kind
    this.#generators = Object.entries(generators).map(([path, make]) => [path.replaceAll('[]', '.[]').split('.'), make])
    this.#accept = accept
    this.#schema = compileSchema(kind.schema)
  }

  /** An object as the API server would pass it on: without unknown fields, with defaults. */
  normalized(object: ConvertibleObject): ConvertibleObject {
    const copy = parseJson(encodeJson(object)) as ConvertibleObject
    this.#schema.normalize(copy)
    return copy
  }

  accepts(object: ConvertibleObject): boolean {
    return this.#schema.validate(deepCopy(object)).length === 0 && this.#accept(object)
  }

  generate(random: Random): ConvertibleObject {
    const generator = new ValueGenerator(random)
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const { apiVersion, kind, scope } = this.kind
      const made = generator.value(this.kind.schema) as object
      for (const [path, make] of this.#generators) replaceField(made, path, () => make(random))
      const metadata = {
        name: `object-${random.int(1000)}`,
        ...(scope === 'Namespaced' ? { namespace: 'default' } : {}),
        uid: uuid(random),
        resourceVersion: String(1 + random.int(1000)),
        generation: 1 + random.int(9),
        creationTimestamp: '2026-01-02T03:04:05Z',
        ...(random.int(2) === 0 ? { labels: { app: `app-${random.int(10)}` } } : {}),
        ...(random.int(2) === 0 ? { annotations: { 'example.com/note': `note ${random.int(10)}` } } : {}),
      }
      const object = this.normalized({ ...made, apiVersion, kind, metadata })
      if (this.accepts(object)) return object
    }
    throw new KubewrightError(
      'KW_CONVERSION',
      `Cannot check the conversion of ${this.kind.kind}: none of ${maxAttempts} objects of ${this.kind.version} passed the rules of its schema${this.#accept.length > 0 ? " and 'accept'" : ''}; ` +
        `pass objects of this version as 'examples' and set 'runs' to 0, or 'generators' for the fields of these rules`,
    )
  }
}

/** Replaces the values at a path, where `[]` stands for all items of a list. Absent fields stay absent. */
function replaceField(value: unknown, [field, ...rest]: readonly string[], make: () => unknown): void {
  if (typeof value !== 'object' || value === null || field === undefined) return
  const object = value as Record<string, unknown>
  for (const key of field === '[]' ? Object.keys(object) : Object.hasOwn(object, field) ? [field] : []) {
    if (rest.length === 0) object[key] = make()
    else replaceField(object[key], rest, make)
  }
}

/** A round trip from one version to another and back. */
class RoundTrip {
  readonly #conversion: Conversion
  readonly #from: Version
  readonly #via: Version

  constructor(conversion: Conversion, from: Version, via: Version) {
    this.#conversion = conversion
    this.#from = from
    this.#via = via
  }

  /** The changes of the fields of an object. */
  lossesOf(object: ConvertibleObject): ConversionLoss[] {
    const { changes, error } = this.#travel(object)
    const ends = { from: this.#from.kind.version, via: this.#via.kind.version }
    if (error !== undefined) return [{ ...ends, path: '', change: 'throws', message: error }]
    return changes.map(({ op, path }) => ({ ...ends, path: fieldOf(path), change: wordOf(op), message: '' }))
  }

  /** What the round trip changes in an object; undefined when nothing. */
  problemWith(object: ConvertibleObject): string | undefined {
    const { changes, error, via, back } = this.#travel(object)
    const between = via === undefined ? '' : `\n  in between: ${encodeJson(via)}`
    if (error !== undefined) return `it throws ${error}${between}`
    if (changes.length === 0) return undefined
    const paths = changes.map(({ op, path }) => `${path} ${wordOf(op)}`)
    return `${paths.join(', ')}${between}\n  afterwards: ${encodeJson(back)}`
  }

  /** Converts an object to the other version and back. */
  #travel(object: ConvertibleObject): Journey {
    let via: ConvertibleObject | undefined
    try {
      const conversions = [this.#conversion]
      via = this.#via.normalized(convertObject(conversions, freeze(object), this.#via.kind.apiVersion))
      const back = this.#from.normalized(convertObject(conversions, freeze(via), this.#from.kind.apiVersion))
      return { via, back, changes: createJsonPatch(object, back) }
    } catch (error) {
      return { via, changes: [], error: error instanceof Error ? `${error.name}: ${error.message}` : String(error) }
    }
  }

  /** The error with the smallest object that the round trip changes. */
  error(object: ConvertibleObject, seed: Seed): KubewrightError {
    const smallest = shrinkObject(object, changeable, (candidate) => {
      const { name, namespace, uid } = candidate.metadata ?? {}
      const original = object.metadata ?? {}
      const itself = name === original['name'] && namespace === original['namespace'] && uid === original['uid']
      if (!itself || !this.#from.accepts(candidate)) return false
      const normalized = this.#from.normalized(candidate)
      return createJsonPatch(candidate, normalized).length === 0 && this.problemWith(candidate) !== undefined
    })
    const { kind, version } = this.#from.kind
    const way = `${version} → ${this.#via.kind.version} → ${version}`
    return new KubewrightError(
      'KW_CONVERSION',
      `The conversion of ${kind} is not lossless (${way}, seed ${String(seed)}): ${this.problemWith(smallest) ?? ''}\n` +
        `  the object: ${encodeJson(smallest)}\n` +
        '  store fields that the other version lacks in an annotation',
    )
  }
}

/** The states of an object on a round trip. */
interface Journey {
  /** In the other version; undefined if the first conversion throws. */
  readonly via: ConvertibleObject | undefined
  readonly back?: ConvertibleObject | undefined
  readonly changes: readonly { readonly op: string; readonly path: string }[]
  readonly error?: string | undefined
}

const wordOf = (op: string): 'is lost' | 'appears' | 'changes' =>
  op === 'remove' ? 'is lost' : op === 'add' ? 'appears' : 'changes'

/** `/spec/ports/0/name` -> `spec.ports[].name`. */
function fieldOf(pointer: string): string {
  const steps = pointer
    .slice(1)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
  return steps
    .map((step) => (/^\d+$/.test(step) ? '[]' : `.${step}`))
    .join('')
    .slice(1)
}

/** A frozen copy: conversions must not modify their input. */
function freeze(object: ConvertibleObject): ConvertibleObject {
  return deepFreeze(deepCopy(object))
}
