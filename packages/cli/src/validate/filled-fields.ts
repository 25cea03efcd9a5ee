import { deepEqual, isJsonObject } from '@kubewright/base'

/** A field that the server set or changed. */
export interface FilledField {
  /** `spec.containers[0].imagePullPolicy`. */
  readonly path: string
  readonly value: unknown
  /** The value before, if there was one. */
  readonly before?: unknown
}

// Metadata that the server sets in every object.
const bookkeeping = ['uid', 'resourceVersion', 'generation', 'creationTimestamp', 'managedFields', 'namespace', 'name']

/** The fields that the server set: defaults and normalized values, without metadata of the server and status. */
export function filledFields(given: unknown, stored: unknown): FilledField[] {
  const filled: FilledField[] = []
  compare(withoutBookkeeping(given), withoutBookkeeping(stored), '', filled)
  return filled
}

function withoutBookkeeping(value: unknown): unknown {
  if (!isJsonObject(value)) return value
  const { status: _, metadata, ...rest } = value
  const meta = Object.entries(isJsonObject(metadata) ? metadata : {}).filter(([name]) => !bookkeeping.includes(name))
  return { ...rest, metadata: Object.fromEntries(meta) }
}

function compare(given: unknown, stored: unknown, path: string, filled: FilledField[]): void {
  if (deepEqual(given, stored)) return
  // Clients read an integer beyond 2^53 as the nearest float.
  if (typeof given === 'bigint' && Number(given) === stored) return
  if (isJsonObject(given) && isJsonObject(stored)) {
    for (const [name, value] of Object.entries(stored)) compare(given[name], value, member(path, name), filled)
  } else if (Array.isArray(given) && Array.isArray(stored) && given.length === stored.length) {
    for (const [index, value] of stored.entries()) compare(given[index], value, `${path}[${index}]`, filled)
  } else if (given === undefined || given === null) filled.push({ path, value: stored })
  else filled.push({ path, value: stored, before: given })
}

function member(path: string, name: string): string {
  if (!/^[A-Za-z_][\w-]*$/.test(name)) return `${path}[${JSON.stringify(name)}]`
  return path === '' ? name : `${path}.${name}`
}
