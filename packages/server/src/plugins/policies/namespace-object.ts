import { newNotFound } from '@kubewright/api'
import type { ObjectLookup } from '../../registry/object-lookup.ts'
import { isNamespaces, type ReviewedRequest } from '../requests/reviewed-request.ts'

/** The namespace of a request, reduced to the fields that expressions may read; null for requests outside of namespaces. */
export async function namespaceObject(request: ReviewedRequest, lookup: ObjectLookup): Promise<object | null> {
  const { namespace, attributes } = request
  if (namespace === '' || isNamespaces(attributes.resource)) return null
  const found = await lookup.find(['', 'v1', 'namespaces'], '', namespace)
  if (!found) throw newNotFound({ group: '', resource: 'namespaces' }, namespace)
  const { ownerReferences: _, managedFields: __, ...metadata } = found.metadata
  return { metadata, spec: found['spec'] ?? {}, status: found['status'] ?? {} }
}
