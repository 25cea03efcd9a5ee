import { isJsonObject } from '@kubewright/base'
import type { JsonObject } from '../own-property.ts'

/** Returns false when a patch changes something that it must not change. */
export type PatchPrecondition = (patch: JsonObject) => boolean

/** Requires that the patch does not change the top-level field. */
export function requireKeyUnchanged(key: string): PatchPrecondition {
  return (patch) => !Object.hasOwn(patch, key)
}

/** Requires that the patch does not change the field of metadata. */
export function requireMetadataKeyUnchanged(key: string): PatchPrecondition {
  return (patch) => {
    const metadata = patch['metadata']
    return !isJsonObject(metadata) || !Object.hasOwn(metadata, key)
  }
}
