/** What a request needs the right to do. */
export interface UsedAccess {
  /** As text, for messages and to tell one from another. */
  readonly id: string
  readonly verb: string
  readonly group: string
  readonly resource: string
  readonly subresource: string
  readonly namespace: string
  readonly name: string
}

const writes: Readonly<Record<string, string>> = { POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' }

/** Reads from a request what the API server asks its authorizer; undefined for what is not about objects. */
export function accessOfRequest(method: string, target: string, body: Uint8Array | undefined): UsedAccess | undefined {
  const url = new URL(target, 'https://server')
  const match =
    /^\/(?:api|apis\/([^/]+))\/[^/]+(?:\/namespaces\/([^/]+)(?=\/.))?\/([^/]+)(?:\/([^/]+))?(?:\/([^/]+))?$/.exec(
      url.pathname,
    )
  if (!match) return undefined
  const [, group = '', namespace = '', resource = '', named = '', subresource = ''] = match
  const watching = url.searchParams.get('watch')
  const selected = /(?:^|,)metadata\.name=([^,]+)/.exec(url.searchParams.get('fieldSelector') ?? '')?.[1] ?? ''
  const isRead = method === 'GET'
  const verb = isRead ? (named !== '' ? 'get' : watching === null ? 'list' : 'watch') : (writes[method] ?? method)
  // A list or watch of one name counts as being about that object.
  const name = named !== '' ? named : isRead ? selected : ''
  if (resource.startsWith('selfsubject') || (body === undefined) === !isRead) return undefined
  const resourceText = subresource === '' ? resource : `${resource}/${subresource}`
  const id = `${verb} ${group}/${resourceText}${name === '' ? '' : ` ${name}`}${namespace === '' ? '' : ` in ${namespace}`}`
  return { id, verb, group, resource, subresource, namespace, name }
}
