import { isObject, type JsonObject } from './own-property.ts'

/** Says whether a patch leaves alone what it must not change. */
export type PatchPrecondition = (patch: JsonObject) => boolean

/** Holds unless the patch changes the top-level field. */
export function requireKeyUnchanged(key: string): PatchPrecondition {
  return (patch) => !Object.hasOwn(patch, key)
}

/** Holds unless the patch changes the field of metadata. */
export function requireMetadataKeyUnchanged(key: string): PatchPrecondition {
  return (patch) => {
    const metadata = patch['metadata']
    return !isObject(metadata) || !Object.hasOwn(metadata, key)
  }
}
