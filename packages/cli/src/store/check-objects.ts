import type { Entry } from '@kubewright/storage'

/** What {@link checkObjects} found. */
export interface ObjectCheck {
  readonly objects: number
  /** Damaged objects, a sentence each. */
  readonly problems: readonly string[]
  /** References that lead nowhere, a sentence each. Controllers resolve most of them. */
  readonly warnings: readonly string[]
}

interface StoredMeta {
  readonly name?: string | undefined
  readonly namespace?: string | undefined
  readonly uid?: string | undefined
  readonly ownerReferences?:
    | readonly {
        readonly kind?: string | undefined
        readonly name?: string | undefined
        readonly uid?: string | undefined
      }[]
    | undefined
}

const root = '/registry/'

/** Checks that objects can be decoded and belong to their keys, and the references between them. */
export function checkObjects(entries: readonly Entry[]): ObjectCheck {
  const problems: string[] = []
  const warnings: string[] = []
  const objects = new Map<string, StoredMeta>()
  const byUid = new Map<string, string>()
  for (const { key, value } of entries) {
    if (!key.startsWith(root) || isEncrypted(value)) continue
    const found = metaOf(value)
    if (typeof found === 'string') problems.push(`${key}: ${found}`)
    else objects.set(key, found)
  }
  for (const [key, { name, namespace, uid }] of objects) {
    if (!belongs(key, name, namespace)) problems.push(`${key}: contains the object ${namespace ?? ''}/${name ?? ''}`)
    const other = uid === undefined ? undefined : byUid.get(uid)
    if (other !== undefined) warnings.push(`${key}: has the UID of ${other}`)
    else if (uid !== undefined) byUid.set(uid, key)
  }
  for (const [key, { namespace, ownerReferences = [] }] of objects) {
    if (namespace !== undefined && !objects.has(`${root}namespaces/${namespace}`))
      warnings.push(`${key}: its namespace does not exist`)
    for (const { kind, name, uid } of ownerReferences)
      if (uid !== undefined && !byUid.has(uid)) warnings.push(`${key}: its owner ${kind} ${name} does not exist`)
  }
  return { objects: objects.size, problems, warnings }
}

/** The metadata of a stored object, or why it cannot be read. */
function metaOf(value: Uint8Array): StoredMeta | string {
  let object: unknown
  try {
    object = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(value))
  } catch {
    return 'is not JSON'
  }
  if (typeof object !== 'object' || object === null) return 'is not an object'
  const { kind, apiVersion, metadata } = object as {
    kind?: unknown
    apiVersion?: unknown
    metadata?: StoredMeta | undefined
  }
  if (typeof kind !== 'string' || typeof apiVersion !== 'string') return 'has no kind or apiVersion'
  if (typeof metadata !== 'object' || metadata === null) return 'has no metadata'
  return metadata
}

/** Encrypted values and other formats of kube-apiserver have a prefix. */
function isEncrypted(value: Uint8Array): boolean {
  return Buffer.from(value.buffer, value.byteOffset, Math.min(value.length, 4)).toString('latin1') === 'k8s:'
}

/** Whether the key ends in the namespace and name. Names with characters that keys cannot have are encoded there. */
function belongs(key: string, name: string | undefined, namespace: string | undefined): boolean {
  if (name === undefined) return false
  const parts = key.slice(root.length).split('/')
  const isPlain = /^[\w.:-]+$/.test(name)
  if (isPlain && parts.at(-1) !== name) return false
  return namespace === undefined || parts.at(-2) === namespace
}
