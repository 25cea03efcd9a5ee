import type { KubeObject } from '@kubewright/api'
import { compareValues } from '@kubewright/base'

/**
 * Sorts objects by namespace, then by name, in place. The order of keys differs when one namespace's name is a prefix
 * of another's.
 */
export function inOrder<T extends KubeObject>(objects: T[]): T[] {
  for (let index = 1; index < objects.length; index++) {
    if (compare(objects[index - 1]!, objects[index]!) > 0) return objects.sort(compare)
  }
  return objects
}

function compare(a: KubeObject, b: KubeObject): number {
  return (
    compareValues(a.metadata.namespace ?? '', b.metadata.namespace ?? '') ||
    compareValues(a.metadata.name, b.metadata.name)
  )
}
