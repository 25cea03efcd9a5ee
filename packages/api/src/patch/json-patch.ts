import { CaughtError, compareUtf8, deepEqual, defineBudget, goQuote, isJsonObject } from '@kubewright/base'
import { type JsonObject, setOwn } from '../own-property.ts'
import { cannotDecode, PatchError, PatchTestError } from './patch-error.ts'

/**
 * One operation of a JSON patch (RFC 6902). In a patch from a client, fields that the operation requires may be
 * missing.
 */
export interface JsonPatchOperation {
  readonly op: 'add' | 'remove' | 'replace' | 'move' | 'copy' | 'test' | (string & {})
  /** A JSON pointer: `/spec/containers/0/image`, with `~1` for a slash in a name and `~0` for a tilde. */
  readonly path: string
  readonly from?: string | undefined
  readonly value?: unknown
}

/** Limits on the effect of one patch. */
export interface JsonPatchLimits {
  /** The maximum number of JSON bytes that `copy` operations may add. @default 3 MiB, as in kube-apiserver */
  readonly maxCopyBytes?: number | undefined
}

/** The maximum number of operations that kube-apiserver accepts in one patch. */
export const maxJsonPatchOperations: number = defineBudget(10_000, {
  group: 'server',
  what: 'operations of a JSON patch',
  answer: '413',
  kubernetes: 'yes',
})

const defaultMaxCopyBytes = defineBudget(3 * 1024 * 1024, {
  group: 'server',
  what: 'bytes that the copy operations of a JSON patch add',
  unit: 'bytes',
  answer: '422',
  kubernetes: 'yes',
})

/**
 * Checks that decoded JSON is a JSON patch of at most {@link maxJsonPatchOperations}. Throws PatchError with
 * kube-apiserver's message. With fieldValidation `Ignore` the fields of operations are not checked, as in
 * kube-apiserver.
 */
export function decodeJsonPatch(patch: unknown, fieldValidation = 'Warn'): readonly JsonPatchOperation[] {
  const [prefix, list, item] =
    fieldValidation === 'Ignore'
      ? ['', 'jsonpatch.Patch', 'jsonpatch.Operation']
      : ['error decoding patch: ', '[]handlers.jsonPatchOp', 'handlers.jsonPatchOp']
  if (patch === null) return []
  if (!Array.isArray(patch)) throw cannotDecode(patch, `value of type ${list}`, prefix)
  for (const operation of patch as readonly unknown[]) {
    if (operation === null) continue
    if (!isJsonObject(operation)) throw cannotDecode(operation, `value of type ${item}`, prefix)
    for (const name of fieldValidation === 'Ignore' ? [] : ['op', 'path', 'from']) {
      const value = operation[name]
      if (value !== undefined && value !== null && typeof value !== 'string') {
        throw cannotDecode(value, `struct field jsonPatchOp.${name} of type string`, prefix)
      }
    }
  }
  if (patch.length > maxJsonPatchOperations) {
    throw new PatchError(
      `The allowed maximum operations in a JSON patch is ${maxJsonPatchOperations}, got ${patch.length}`,
      'TooLarge',
    )
  }
  return patch as readonly JsonPatchOperation[]
}

const knownFields: ReadonlySet<string> = new Set(['op', 'path', 'from', 'value'])

/** The unknown fields of operations, in the wording of strict decoding. */
export function unknownJsonPatchFields(operations: readonly JsonPatchOperation[]): string[] {
  return operations.flatMap((operation, i) =>
    Object.keys(operation ?? {})
      .filter((field) => !knownFields.has(field))
      .map((field) => `json patch unknown field "[${i}].${field}"`),
  )
}

/**
 * Applies a JSON patch and returns the patched document. Never modifies the given document; when an operation fails, it
 * throws PatchError and nothing is applied. Where RFC 6902 and kube-apiserver differ, this follows kube-apiserver:
 * negative indexes count from the end, `replace` adds a missing field, `copy` of a missing field adds null, and `test`
 * treats a missing field as null.
 */
export function applyJsonPatch<T>(
  document: T,
  operations: readonly JsonPatchOperation[],
  limits: JsonPatchLimits = {},
): T {
  const patcher = new JsonPatcher(document, limits.maxCopyBytes ?? defaultMaxCopyBytes)
  for (const operation of operations) patcher.run(operation ?? {})
  // The cast is unchecked: a patch can change the type of the document. The caller validates the result.
  return patcher.finish() as T
}

type Container = Record<string, unknown> | unknown[]

const missing = 'missing value'

class JsonPatcher {
  #document: unknown
  readonly #maxCopyBytes: number
  /** Containers that this patcher copied and may therefore modify. */
  readonly #own = new WeakSet<object>()
  #copied = 0

  constructor(document: unknown, maxCopyBytes: number) {
    this.#document = document
    this.#maxCopyBytes = maxCopyBytes
  }

  /** The patched document. */
  finish(): unknown {
    return this.#sorted(this.#document)
  }

  run(operation: JsonPatchOperation): void {
    switch (operation.op) {
      case 'add':
        this.#add(operation)
        break
      case 'remove':
        this.#remove(operation)
        break
      case 'replace':
        this.#replace(operation)
        break
      case 'move':
        this.#move(operation)
        break
      case 'copy':
        this.#copy(operation)
        break
      case 'test':
        this.#test(operation)
        break
      default:
        throw failure(`Unexpected kind: ${operation.op ?? 'unknown'}`)
    }
  }

  #add({ path, value = null }: JsonPatchOperation): void {
    if (typeof path !== 'string') throw failure(`add operation failed to decode path: ${missing}`)
    const place = this.#find(path)
    if (!place) throw failure(`add operation does not apply: doc is missing path: "${path}": ${missing}`)
    attempt(`error in add for path: '${path}'`, () => insert(place.container, place.key, value))
  }

  #remove({ path }: JsonPatchOperation): void {
    if (typeof path !== 'string') throw failure(`remove operation failed to decode path: ${missing}`)
    const place = this.#find(path)
    if (!place) throw failure(`remove operation does not apply: doc is missing path: "${path}": ${missing}`)
    attempt(`error in remove for path: '${path}'`, () => remove(place.container, place.key))
  }

  #replace({ path, value = null }: JsonPatchOperation): void {
    if (typeof path !== 'string') {
      throw failure(`replace operation failed to decode path: operation missing path field: ${missing}`)
    }
    if (path === '') {
      if (!isContainer(value)) throw failure('replace operation value must be object or array: %!w(<nil>)')
      this.#document = value
      return
    }
    const place = this.#find(path)
    if (!place) throw failure(`replace operation does not apply: doc is missing path: ${path}: ${missing}`)
    const { container, key } = place
    if (!Array.isArray(container)) {
      setOwn(container, key, value)
      return
    }
    let index: number
    try {
      index = indexOf(container, key)
    } catch {
      throw failure(`replace operation does not apply: doc is missing key: ${path}: ${missing}`)
    }
    container[index] = value
  }

  #move({ from, path }: JsonPatchOperation): void {
    if (typeof from !== 'string') {
      throw failure(`move operation failed to decode from: operation, missing from field: ${missing}`)
    }
    const source = this.#find(from)
    if (!source) throw failure(`move operation does not apply: doc is missing from path: ${from}: ${missing}`)
    const value = attempt(`error in move for path: '${source.key}'`, () => {
      const found = get(source.container, source.key)
      remove(source.container, source.key)
      return found
    })
    if (typeof path !== 'string') {
      throw failure(`move operation failed to decode path: operation missing path field: ${missing}`)
    }
    const target = this.#find(path)
    if (!target) throw failure(`move operation does not apply: doc is missing destination path: ${path}: ${missing}`)
    attempt(`error in move for path: '${path}'`, () => insert(target.container, target.key, value ?? null))
  }

  #copy({ from, path }: JsonPatchOperation): void {
    if (typeof from !== 'string') {
      throw failure(`copy operation failed to decode from: operation, missing from field: ${missing}`)
    }
    const source = this.#find(from)
    if (!source) throw failure(`copy operation does not apply: doc is missing from path: ${from}: ${missing}`)
    const value = attempt(`error in copy for from: '${from}'`, () => get(source.container, source.key))
    if (typeof path !== 'string') throw failure(`copy operation failed to decode path: ${missing}`)
    const target = this.#find(path)
    if (!target) throw failure(`copy operation does not apply: doc is missing destination path: ${path}: ${missing}`)
    if (value !== undefined && value !== null) this.#copied += byteLengthOf(value)
    if (this.#copied > this.#maxCopyBytes) {
      throw failure(
        `Unable to complete the copy, the accumulated size increase of copy is ${this.#copied}, exceeding the limit ${this.#maxCopyBytes}`,
      )
    }
    attempt('error while adding value during copy', () =>
      insert(target.container, target.key, this.#sorted(value ?? null)),
    )
  }

  #test({ path, value = null }: JsonPatchOperation): void {
    if (typeof path !== 'string') {
      throw failure(`test operation failed to decode path: operation missing path field: ${missing}`)
    }
    const place = path === '' ? undefined : this.#find(path)
    if (path !== '' && !place) throw failure(`test operation does not apply: is missing path: ${path}: ${missing}`)
    const actual = place
      ? attempt(`error in test for path: '${path}'`, () => get(place.container, place.key))
      : this.#document
    if (!deepEqual(actual ?? null, value)) throw new PatchTestError(`testing value ${path} failed: test failed`)
    // The comparison passes through the whole value.
    if (!isContainer(actual)) return
    const owned = this.#ownedDeeply(actual)
    if (!place) this.#document = owned
    else if (Array.isArray(place.container)) place.container[indexOf(place.container, place.key)] = owned
    else setOwn(place.container, place.key, owned)
  }

  /** The container of the last path element. Copies all containers on the path first, so that they may be modified. */
  #find(path: string): { container: Container; key: string } | undefined {
    const steps = path.split('/')
    if (steps.length < 2) return undefined
    let container = this.#owned(this.#document)
    if (container === undefined) return undefined
    this.#document = container
    for (let i = 1; i < steps.length - 1; i++) {
      const key = unescapeStep(steps[i] as string)
      let index: string | number = key
      if (Array.isArray(container)) {
        try {
          index = indexOf(container, key)
        } catch {
          return undefined
        }
      }
      const next = this.#owned(get(container, String(index)))
      if (next === undefined) return undefined
      if (Array.isArray(container)) container[index as number] = next
      else setOwn(container, key, next)
      container = next
    }
    return { container, key: unescapeStep(steps[steps.length - 1] as string) }
  }

  #owned(value: unknown): Container | undefined {
    if (!isContainer(value)) return undefined
    if (this.#own.has(value)) return value as Container
    const copy: Container = Array.isArray(value) ? [...value] : { ...value }
    this.#own.add(copy)
    return copy
  }

  #ownedDeeply(value: unknown): unknown {
    const owned = this.#owned(value)
    if (owned === undefined) return value
    if (Array.isArray(owned)) for (const [i, item] of owned.entries()) owned[i] = this.#ownedDeeply(item)
    else for (const key of Object.keys(owned)) setOwn(owned, key, this.#ownedDeeply(owned[key]))
    return owned
  }

  /**
   * Sorts the keys of the objects that the patch passed through, as Kubernetes does when it writes them. The result
   * shares nothing with the containers that the patcher modifies.
   */
  #sorted(value: unknown): unknown {
    if (!isContainer(value) || !this.#own.has(value)) return value
    if (Array.isArray(value)) return value.map((item) => this.#sorted(item))
    const copy = sortedCopy(value as JsonObject)
    for (const key of Object.keys(copy)) setOwn(copy, key, this.#sorted(copy[key]))
    return copy
  }
}

function failure(message: string): PatchError {
  return new PatchError(message, 'Unprocessable')
}

function attempt<T>(prefix: string, action: () => T): T {
  try {
    return action()
  } catch (error) {
    throw failure(`${prefix}: ${(error as Error).message}`)
  }
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

/** A shallow copy with keys in byte order. */
export function sortedCopy(object: JsonObject): Record<string, unknown> {
  const copy: Record<string, unknown> = {}
  for (const key of Object.keys(object).sort(compareUtf8)) setOwn(copy, key, object[key])
  return copy
}

function unescapeStep(step: string): string {
  return step.includes('~') ? step.replace(/~[01]/g, (code) => (code === '~1' ? '/' : '~')) : step
}

function parseIndex(key: string): number {
  if (!/^[+-]?\d+$/.test(key)) throw new CaughtError(`strconv.Atoi: parsing ${goQuote(key)}: invalid syntax`)
  const index = Number(key)
  if (!Number.isSafeInteger(index)) throw new CaughtError(`strconv.Atoi: parsing ${goQuote(key)}: value out of range`)
  return index
}

function checkIndex(index: number, length: number): number {
  if (index >= length || index < -length) {
    throw new CaughtError(`Unable to access invalid index: ${index}: invalid index referenced`)
  }
  return index < 0 ? index + length : index
}

function indexOf(array: readonly unknown[], key: string): number {
  return checkIndex(parseIndex(key), array.length)
}

function get(container: Container, key: string): unknown {
  if (Array.isArray(container)) return container[indexOf(container, key)]
  return Object.hasOwn(container, key) ? container[key] : undefined
}

function insert(container: Container, key: string, value: unknown): void {
  if (!Array.isArray(container)) {
    setOwn(container, key, value)
    return
  }
  if (key === '-') {
    container.push(value)
    return
  }
  let index: number
  try {
    index = parseIndex(key)
  } catch (error) {
    throw new CaughtError(`value was not a proper array index: '${key}': ${(error as Error).message}`)
  }
  container.splice(checkIndex(index, container.length + 1), 0, value)
}

function remove(container: Container, key: string): void {
  if (Array.isArray(container)) {
    container.splice(indexOf(container, key), 1)
    return
  }
  if (!Object.hasOwn(container, key)) throw new CaughtError(`Unable to remove nonexistent key: ${key}: ${missing}`)
  delete container[key]
}

function byteLengthOf(value: unknown): number {
  return new TextEncoder().encode(JSON.stringify(value, (_, item) => (typeof item === 'bigint' ? String(item) : item)))
    .length
}
