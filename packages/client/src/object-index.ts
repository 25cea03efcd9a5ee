import { type AnyKind, formatGroupKind, type Infer, type KubeObject, keyOf } from '@kubewright/api'
import { errorText, KubewrightError } from '@kubewright/base'
import { isMetadataOnly } from './dynamic-kind.ts'

/** Selects the objects that have a value in an index; the result of calling an {@link ObjectIndex}. */
export interface IndexQuery<T = unknown> {
  readonly index: ObjectIndex<T>
  readonly value: string
}

/** An index of the objects of a kind by values that are computed from them. Call it with a value to select by it. */
export interface ObjectIndex<T = unknown> {
  (value: string): IndexQuery<T>
  readonly kind: AnyKind
  readonly indexName: string
  /** The values of an object. Throws an error that names the index and the object when the function of the index fails. */
  // A method, so that an index of a kind can be passed where any index is accepted.
  valuesOf(object: T): readonly string[]
}

/**
 * Declares an index over any values of an object: array items, status, or computed keys. Pure. A client with a cache
 * maintains the index while the kind is watched; without a cache the client filters the list of the server, so the
 * result is the same. The function must depend on the object alone. With a cache it receives the cached form.
 *
 * @example const bySecret = index(Team, 'bySecret', (team) => team.spec.refs.map((ref) => ref.name))
 * const teams = await client.list(Team, { index: bySecret('token') })
 */
export function index<K extends AnyKind>(
  kind: K,
  name: string,
  toValues: (object: Infer<K>) => Iterable<string> | string | undefined,
): ObjectIndex<Infer<K>> {
  if (name === '') throw new TypeError(`Cannot define an index of ${kind.kind} without a name: give it one`)
  const valuesOf = (object: Infer<K>): readonly string[] => {
    try {
      const values = toValues(object)
      return values === undefined ? [] : typeof values === 'string' ? [values] : [...new Set(values)]
    } catch (error) {
      const text = `${kind.kind} ${keyOf(object as KubeObject)}: ${errorText(error)}`
      throw new KubewrightError(
        'KW_INDEX',
        `Index "${name}" failed for ${text}: make its function accept every object`,
        { cause: error },
      )
    }
  }
  const select = (value: string): IndexQuery<Infer<K>> => Object.freeze({ index: declared, value })
  const declared: ObjectIndex<Infer<K>> = Object.freeze(Object.assign(select, { kind, indexName: name, valuesOf }))
  return declared
}

/** Whether an object has the value of an index query. */
export function matchesIndex({ index: { valuesOf }, value }: IndexQuery, object: unknown): boolean {
  return valuesOf(object).includes(value)
}

/** Throws a TypeError when a list of a kind cannot be selected by an index. */
export function checkIndex({ index: declared }: IndexQuery, kind: AnyKind): void {
  const cannot = `Cannot list ${kind.kind} by index "${declared.indexName}"`
  if (formatGroupKind(kind) !== formatGroupKind(declared.kind) || kind.version !== declared.kind.version) {
    throw new TypeError(`${cannot}: it is an index of ${declared.kind.apiVersion} ${declared.kind.kind}`)
  }
  if (isMetadataOnly(kind) && !isMetadataOnly(declared.kind)) {
    throw new TypeError(
      `${cannot}: only metadata is read, but the index needs the whole object; list ${kind.kind} itself`,
    )
  }
}
