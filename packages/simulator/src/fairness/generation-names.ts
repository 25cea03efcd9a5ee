import { controllerOf, type KubeObject } from '@kubewright/api'
import { objectId } from '../define/object-id.ts'
import type { Difference } from './comparable-state.ts'

/**
 * Whether a difference is that of the generation of an owner in the name of its child, such as that of a Job for each form of the owner: the
 * generation counts the changes. Each state must have the child with its own generation, and not that of the other one.
 */
export function isOtherGeneration(
  { id, path, expected, actual }: Difference,
  reference: readonly KubeObject[],
  objects: readonly KubeObject[],
): boolean {
  if (path === '') {
    return actual === undefined ? isReplaced(id, reference, objects) : isReplaced(id, objects, reference)
  }
  // A field that names the child.
  const named = reference.filter(({ metadata }) => metadata.name === expected).map(objectId)
  return named.some(
    (one) => isReplaced(one, reference, objects) && counterpartOf(one, reference, objects)?.endsWith(`/${actual}`),
  )
}

/** Whether another state has the counterpart of a child, and this one does not. */
function isReplaced(id: string, own: readonly KubeObject[], other: readonly KubeObject[]): boolean {
  const counterpart = counterpartOf(id, own, other)
  return counterpart !== undefined && has(other, counterpart) && !has(own, counterpart) && !has(other, id)
}

const has = (objects: readonly KubeObject[], id: string): boolean => objects.some((one) => objectId(one) === id)

/** The ID that a child has with the generation of its owner in another state; undefined if its name does not contain the generation. */
function counterpartOf(id: string, own: readonly KubeObject[], other: readonly KubeObject[]): string | undefined {
  const child = own.find((one) => objectId(one) === id)
  const uid = child && controllerOf(child)?.uid
  const owner = own.find(({ metadata }) => metadata.uid === uid)
  const suffix = `-${owner?.metadata.generation}`
  if (owner === undefined || !id.endsWith(suffix)) return undefined
  const twin = other.find((one) => objectId(one) === objectId(owner))
  return twin && `${id.slice(0, -suffix.length)}-${twin.metadata.generation}`
}
