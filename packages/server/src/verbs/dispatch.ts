import { type GroupResource, newBadRequest, newMethodNotSupported, newNotFound } from '@kubewright/api'
import type { AdmissionChain } from '../admission/admission.ts'
import type { ObjectRegistry } from '../registry/object-registry.ts'
import type { ApiResponse } from '../request/api-request.ts'
import type { RequestContext } from '../request/request-context.ts'
import { respondText } from '../request/respond.ts'
import { notAllowed, notServed } from '../request/route-errors.ts'
import type { Resource } from '../resource/resource.ts'
import type { ResourceTable } from '../resource/resource-table.ts'
import { create } from './create.ts'
import { remove, removeCollection } from './delete.ts'
import { Endpoint } from './endpoint.ts'
import { get } from './get.ts'
import { list } from './list.ts'
import { patch } from './patch.ts'
import { update } from './update.ts'
import { watch } from './watch.ts'

type Verb = (endpoint: Endpoint, context: RequestContext) => Promise<ApiResponse>

const verbs: Readonly<Record<string, Verb>> = {
  get,
  list,
  watch,
  create,
  update,
  patch,
  delete: remove,
  deletecollection: removeCollection,
}

/** Finds the resource that a request is about and runs the verb on it. */
export class ResourceDispatcher {
  readonly #registry: ObjectRegistry
  readonly #resources: ResourceTable
  readonly #admission: AdmissionChain
  /** Endpoints keep what they derived from a resource's schema, so they live as long as it does. */
  readonly #endpoints = new WeakMap<Resource, Map<string, Endpoint>>()

  constructor(registry: ObjectRegistry, resources: ResourceTable, admission: AdmissionChain) {
    this.#registry = registry
    this.#resources = resources
    this.#admission = admission
  }

  async dispatch(context: RequestContext): Promise<ApiResponse> {
    const { info } = context
    const resource = this.#resources.find(info.group, info.version, info.resource)
    if (!resource) {
      if (!this.#resources.hasBuiltins(info.group)) return respondText(404, '404 page not found\n')
      throw notServed()
    }
    const namespaced = resource.kind.scope === 'Namespaced'
    // A named object of a namespaced kind needs its namespace; a cluster-scoped kind has no place below one.
    if (namespaced && info.namespace === '') {
      const looks = info.verb === 'list' || info.verb === 'watch'
      if (!looks && !resource.typedItems) return respondText(404, '404 page not found\n')
      // What cannot be listed has no path without a namespace.
      if (info.name !== '' || (resource.typedItems && !resource.verbs.includes('list'))) throw notServed()
      // Over all namespaces one can only look.
      if (!looks) throw notAllowed()
    }
    // A namespace belongs to itself, and to no other.
    const elsewhere = info.resource === 'namespaces' ? info.namespace !== info.name : info.namespace !== ''
    if (!namespaced && elsewhere) {
      if (!resource.typedItems) return respondText(404, '404 page not found\n')
      throw notServed()
    }
    if (info.parts.length > 3 && resource.typedItems && info.subresource !== 'proxy') throw notServed()
    // What can only be created has no objects that could be named; of the old paths of proxies only the verb is left.
    if (resource.typedItems && ((resource.virtual && info.name !== '') || info.verb === 'proxy')) throw notServed()
    // Built-in kinds warn where a route is found, custom resources wherever they are named.
    if (resource.deprecation && !resource.typedItems) context.warn(resource.deprecation)
    if (info.subresource === '') return this.#run(context, resource, resource.verbs)

    const subresource = resource.subresources[info.subresource]
    if (!subresource) {
      if (!resource.typedItems) throw newNotFound(groupResourceOf(resource), info.name)
      throw notServed()
    }
    if (subresource.handle) {
      // One that names no verbs decides for itself.
      if (subresource.verbs.length > 0 && !subresource.verbs.includes(info.verb)) throw notAllowed()
      if (resource.deprecation && resource.typedItems) context.warn(resource.deprecation)
      return subresource.handle(context, resource)
    }
    return this.#run(context, resource, subresource.verbs)
  }

  #run(context: RequestContext, resource: Resource, served: readonly string[]): Promise<ApiResponse> {
    const { info, request } = context
    const named = info.name !== ''
    const verb = verbs[info.verb]
    // The verb follows from the method; POST to a named object, or PUT and PATCH to a collection, have none.
    const creates = info.verb === 'create'
    const fits = creates ? !named || info.subresource !== '' : !['update', 'patch'].includes(info.verb) || named
    // Custom resources are not told apart by their paths: a name that is not needed is ignored.
    if (!resource.typedItems && !fits) {
      if (info.verb === 'update') throw newBadRequest('name must be provided')
      return verb!(this.endpoint(resource, ''), context)
    }
    // The old watch paths say what to do whatever the method is.
    const reads = info.verb !== 'watch' || request.method === 'GET'
    // Nor are they by their methods.
    const heads = request.method === 'HEAD' && resource.typedItems
    // A watch is a list that stays open, so that only the list can say that there is none.
    const watchesList = info.verb === 'watch' && reads && !heads && served.includes('list')
    const allowed = verb !== undefined && fits && reads && !heads && served.includes(info.verb)
    if (resource.deprecation && resource.typedItems && (allowed || watchesList)) context.warn(resource.deprecation)
    if (!allowed) {
      if (!resource.typedItems || watchesList) throw newMethodNotSupported(groupResourceOf(resource), info.verb)
      throw notAllowed()
    }
    return verb(this.endpoint(resource, info.subresource), context)
  }

  /** The endpoint of a resource or of one of its subresources. */
  endpoint(resource: Resource, subresource: string): Endpoint {
    let endpoints = this.#endpoints.get(resource)
    if (!endpoints) this.#endpoints.set(resource, (endpoints = new Map()))
    let endpoint = endpoints.get(subresource)
    if (!endpoint) {
      endpoint = new Endpoint({ registry: this.#registry, resource, subresource, admission: this.#admission })
      endpoints.set(subresource, endpoint)
    }
    return endpoint
  }
}

function groupResourceOf({ kind }: Resource): GroupResource {
  return { group: kind.group, resource: kind.plural }
}
