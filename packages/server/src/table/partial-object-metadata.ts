import type { MutableObject } from '../registry/resource.ts'

/** The metadata of an object as a kind of its own. */
export function partialObjectMetadata(object: Readonly<MutableObject>, apiVersion: string): MutableObject {
  return { kind: 'PartialObjectMetadata', apiVersion, metadata: object.metadata }
}
