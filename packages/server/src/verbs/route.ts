import { type GroupResource, newBadRequest, newMethodNotSupported, newNotFound } from '@kubewright/api'
import { hasRoute } from '../request/negotiate.ts'
import type { RequestContext } from '../request/request-context.ts'
import type { RequestInfo } from '../request/request-info.ts'
import { notAllowed, notServed } from '../request/route-errors.ts'
import type { Resource } from '../resource/resource.ts'
import type { Subresource, SubresourceHandler } from '../resource/subresource.ts'

/** Where a request for a resource leads: to a verb, to a subresource with a handler of its own, or to a page that does not exist. */
export type Route =
  | { readonly verb: string; readonly subresource: string }
  | { readonly handle: SubresourceHandler }
  | 'page not found'

/**
 * Finds the route of a request for a known resource and adds its deprecation warning. Throws the error that kube-apiserver sends when
 * there is none: its router's for resources that have routes, that of the custom resource handler for the others.
 */
export function routeOf(context: RequestContext, resource: Resource): Route {
  return resource.origin.hasRoutes ? routedRequest(context, resource) : handledRequest(context, resource)
}

/** kube-apiserver registers a route for each path and method that a built-in resource serves; everything else is 404 or 405. */
function routedRequest(context: RequestContext, resource: Resource): Route {
  const { info } = context
  if (resource.kind.scope === 'Namespaced' && info.namespace === '') {
    // An empty namespace in the path has the routes of a namespace, and no object has a name there.
    if (info.emptyNamespace) {
      if (info.name !== '') throw newBadRequest('Namespace parameter required.')
    } else {
      // The path without a namespace exists for lists and watches of all namespaces only.
      if (info.name !== '' || !resource.serving.verbs.includes('list')) throw notServed()
      if (!isRead(info)) throw notAllowed()
    }
  }
  if (isMisplaced(info, resource)) throw notServed()
  if (info.parts.length > 3 && info.subresource !== 'proxy') throw notServed()
  // Virtual resources have no objects with names. Of the old proxy paths, RequestInfo still knows the verb.
  if ((resource.virtual && info.name !== '') || info.verb === 'proxy') throw notServed()
  const subresource = subresourceOf(info, resource)
  if (info.subresource !== '' && !subresource) throw notServed()
  if (subresource && info.name === '') throw newBadRequest('name must be provided')
  const { deprecation } = resource.serving
  const warn = (): void => {
    // The router refuses media types before the handler that warns.
    if (deprecation && hasRoute(context.request)) context.warn(deprecation)
  }
  if (subresource?.handle) {
    // A handler without a list of verbs checks the verb itself.
    if (subresource.verbs.length > 0 && !subresource.verbs.includes(info.verb)) throw notAllowed()
    // Routes of GET do not serve HEAD, except for proxies, which serve every method.
    if (context.request.method === 'HEAD' && info.subresource !== 'proxy') throw notAllowed()
    warn()
    return { handle: subresource.handle }
  }
  const served = (subresource ?? resource.serving).verbs
  const isHead = context.request.method === 'HEAD'
  if (!isHead && isReadWhenWatch(context)) {
    if (matchesPath(info) && served.includes(info.verb)) {
      warn()
      return { verb: info.verb, subresource: info.subresource }
    }
    // A watch has the route of the list; only behind it does the server find that the resource cannot be watched.
    if (info.verb === 'watch' && served.includes('list')) {
      warn()
      throw newMethodNotSupported(groupResourceOf(resource), info.verb)
    }
  }
  throw notAllowed()
}

/** One handler serves all custom resources. It ignores parts of the path that it does not need, and warns before anything else. */
function handledRequest(context: RequestContext, resource: Resource): Route {
  const { info } = context
  if (resource.kind.scope === 'Namespaced' && info.namespace === '') {
    if (!isRead(info)) return 'page not found'
    if (info.name !== '') throw notServed()
  }
  if (isMisplaced(info, resource)) return 'page not found'
  if (resource.serving.deprecation) context.warn(resource.serving.deprecation)
  const subresource = subresourceOf(info, resource)
  if (info.subresource !== '' && !subresource) throw newNotFound(groupResourceOf(resource), info.name)
  if (subresource?.handle) return { handle: subresource.handle }
  if (!matchesPath(info)) {
    if (info.verb === 'update') throw newBadRequest('name must be provided')
    return { verb: info.verb, subresource: '' }
  }
  if (!isReadWhenWatch(context) || !(subresource ?? resource.serving).verbs.includes(info.verb)) {
    throw newMethodNotSupported(groupResourceOf(resource), info.verb)
  }
  return { verb: info.verb, subresource: info.subresource }
}

/** The served subresource. Clients choose the name, and `constructor` is a property of every object. */
function subresourceOf({ subresource }: RequestInfo, { subresources }: Resource): Subresource | undefined {
  return Object.hasOwn(subresources, subresource) ? subresources[subresource] : undefined
}

function isRead({ verb }: RequestInfo): boolean {
  return verb === 'list' || verb === 'watch'
}

/** Whether a path names a namespace for a cluster-scoped resource. The path of a namespace names that namespace. */
function isMisplaced(info: RequestInfo, { kind }: Resource): boolean {
  if (kind.scope === 'Namespaced') return false
  if (info.resource === 'namespaces') return info.namespace !== info.name
  return info.namespace !== '' || info.emptyNamespace === true
}

/** Whether the path has a name where the verb needs one: POST to a named object, or PUT and PATCH to a collection, do not match. */
function matchesPath({ verb, name, subresource }: RequestInfo): boolean {
  if (verb === 'create') return name === '' || subresource !== ''
  return (verb !== 'update' && verb !== 'patch') || name !== ''
}

/** The old watch paths imply the verb watch for every method; only GET watches. */
function isReadWhenWatch({ info, request }: RequestContext): boolean {
  return info.verb !== 'watch' || request.method === 'GET'
}

function groupResourceOf({ kind }: Resource): GroupResource {
  return { group: kind.group, resource: kind.plural }
}
