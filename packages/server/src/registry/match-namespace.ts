import { newBadRequest } from '@kubewright/api'
import type { MutableObject } from '../resource/object.ts'

/**
 * Gives an object the namespace of the request. An object without a namespace takes it, and an object of a cluster-scoped resource
 * (`namespace` is empty) loses its own. Throws a BadRequest when the object names another namespace.
 */
export function matchNamespace(object: MutableObject, namespace: string): void {
  const given = object.metadata.namespace ?? ''
  if (given === namespace) return
  if (given === '') object.metadata.namespace = namespace
  else if (namespace === '') delete object.metadata.namespace
  else throw newBadRequest('the namespace of the provided object does not match the namespace sent on the request')
}
