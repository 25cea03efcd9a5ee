import { isUtf8 } from 'node:buffer'
import { maxJsonDepth, parseGroupVersion, parseJson } from '@kubewright/api'
import { errorText, isJsonObject, scanJson } from '@kubewright/base'
import { goTypeOfKind } from '../codec/go-declarations.ts'
import { defaultServedRelease } from '../codec/served-release.ts'
import type { MutableObject } from './object.ts'
import { ValueNotes } from './value-notes.ts'

/** Declares that bytes are readable, because this process has encoded them from a checked object within the limits. */
export function markReadable(raw: Uint8Array): void {
  ValueNotes.markReadable(raw)
}

/**
 * Why stored bytes cannot be read as an object; undefined when they can. Another program, an earlier version or a defect of the disk may
 * have written them. Checks the syntax, the depth and the type metadata and, for built-in kinds, the types of all fields.
 */
export function readProblem(raw: Uint8Array): string | undefined {
  if (ValueNotes.isReadable(raw)) return undefined
  return quickProblem(raw) === undefined ? undefined : isEncrypted(raw) ? encrypted : exactProblem(raw)
}

const encryptedPrefix = Buffer.from('k8s:enc:')
const encrypted = 'the object is encrypted, and no key of the encryption configuration fits'

/** Whether bytes have the prefix of kube-apiserver's encryption at rest. */
function isEncrypted(raw: Uint8Array): boolean {
  return raw.length > encryptedPrefix.length && encryptedPrefix.compare(raw, 0, encryptedPrefix.length) === 0
}

/** As {@link exactProblem}, but faster, and with false alarms. */
function quickProblem(raw: Uint8Array): string | undefined {
  if (!isUtf8(raw) || nestsDeeper(raw, maxJsonDepth)) return 'malformed'
  try {
    // Characters beyond ASCII come out wrong, which changes neither the syntax nor the types.
    return contentProblem(JSON.parse(Buffer.from(raw.buffer, raw.byteOffset, raw.length).toString('latin1')))
  } catch (error) {
    return errorText(error)
  }
}

function exactProblem(raw: Uint8Array): string | undefined {
  try {
    if (nestsDeeper(raw, maxJsonDepth)) return 'exceeded max depth'
    return contentProblem(parseJson(raw))
  } catch (error) {
    return errorText(error)
  }
}

function contentProblem(value: unknown): string | undefined {
  if (!isJsonObject(value)) return 'the value is not an object'
  const { kind, apiVersion, metadata } = value as unknown as MutableObject
  if (!isPlainText(kind) || !isPlainText(apiVersion)) return 'the object has an invalid kind or apiVersion'
  if (!isJsonObject(metadata)) return 'the object has no metadata'
  if (typeof metadata['name'] !== 'string' || metadata['name'] === '') return 'the object has no name'
  const { group, version } = parseGroupVersion(apiVersion)
  // Fields do not change their types from release to release, and those that a release lacks are ignored.
  const { facts, json } = defaultServedRelease
  if (facts.kindFor({ group, version, kind })) json.decode(goTypeOfKind(group, version, kind), value)
  return undefined
}

/** The stored form has kind and apiVersion without escapes. */
function isPlainText(value: unknown): value is string {
  return typeof value === 'string' && /^[\w./-]+$/.test(value)
}

/** Whether a JSON text has more than `limit` levels of objects and lists. */
export function nestsDeeper(json: Uint8Array, limit: number): boolean {
  // Each level takes two bytes.
  return json.length > 2 * limit && scanJson(json).depth > limit
}
