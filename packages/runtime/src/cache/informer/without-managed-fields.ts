import type { KubeObject } from '@kubewright/api'

/** The object without `managedFields`, which reconcilers seldom read. */
export function withoutManagedFields<T extends KubeObject>(object: T): T {
  const { managedFields: _, ...metadata } = object.metadata
  return { ...object, metadata }
}
