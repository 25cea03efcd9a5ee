import type { ApiResponse } from '@kubewright/api'
import type { Awaitable } from '@kubewright/base'
import type { AdmissionChain } from '../admission/admission.ts'
import type { ObjectRegistry } from '../registry/object-registry.ts'
import type { RequestContext } from '../request/request-context.ts'
import { respondText } from '../request/respond.ts'
import { notServed } from '../request/route-errors.ts'
import type { Resource } from '../resource/resource.ts'
import type { ResourceTable } from '../resource/resource-table.ts'
import { Endpoint } from './endpoint.ts'
import { get } from './read/get.ts'
import { list } from './read/list.ts'
import { watch } from './read/watch.ts'
import { routeOf } from './route.ts'
import { remove, removeCollection } from './write/delete.ts'
import { create, patch, update } from './write/write.ts'

type Verb = (endpoint: Endpoint, context: RequestContext) => Awaitable<ApiResponse>

const verbs: ReadonlyMap<string, Verb> = new Map<string, Verb>([
  ['get', get],
  ['list', list],
  ['watch', watch],
  ['create', create],
  ['update', update],
  ['patch', patch],
  ['delete', remove],
  ['deletecollection', removeCollection],
])

/** Finds the resource of a request and runs the verb on it. */
export class ResourceDispatcher {
  readonly #registry: ObjectRegistry
  readonly #resources: ResourceTable
  readonly #admission: AdmissionChain
  /** Kept as long as the resource, because field trackers compile its schema. */
  readonly #endpoints = new WeakMap<Resource, Map<string, Endpoint>>()

  constructor(registry: ObjectRegistry, resources: ResourceTable, admission: AdmissionChain) {
    this.#registry = registry
    this.#resources = resources
    this.#admission = admission
  }

  /** Handles a request for a resource. Throws, or rejects with, an ApiError when it fails. */
  dispatch(context: RequestContext): Awaitable<ApiResponse> {
    const { info } = context
    const resource = this.#resources.find(info.group, info.version, info.resource)
    if (!resource) {
      if (!this.#resources.hasBuiltins(info.group)) return pageNotFound()
      throw notServed()
    }
    const route = routeOf(context, resource)
    if (route === 'page not found') return pageNotFound()
    if ('handle' in route) return route.handle(context, resource)
    return verbs.get(route.verb)!(this.endpoint(resource, route.subresource), context)
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

function pageNotFound(): ApiResponse {
  return respondText(404, '404 page not found\n')
}
