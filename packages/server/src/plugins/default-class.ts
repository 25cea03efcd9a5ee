import { parseRFC3339 } from '@kubewright/base'
import type { SharedObject } from '../registry/object-lookup.ts'

/** The newest class that the annotation marks as default; among equally old ones the first by name. */
export function defaultClass(
  classes: readonly SharedObject[],
  annotations: readonly string[],
): SharedObject | undefined {
  const marked = classes.filter(({ metadata }) => annotations.some((key) => metadata.annotations?.[key] === 'true'))
  return marked.sort((a, b) => ageOf(b) - ageOf(a) || (a.metadata.name! < b.metadata.name! ? -1 : 1))[0]
}

function ageOf({ metadata }: SharedObject): number {
  return metadata.creationTimestamp === undefined ? 0 : parseRFC3339(metadata.creationTimestamp).seconds
}
