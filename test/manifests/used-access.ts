const writes: Readonly<Record<string, string>> = { POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' }

/** A request as the authorizer sees it, for messages: `get apps/deployments web in default`. Undefined for requests that do not concern objects. */
export function accessOfRequest(method: string, target: string): string | undefined {
  const url = new URL(target, 'https://server')
  const match =
    /^\/(?:api|apis\/([^/]+))\/[^/]+(?:\/namespaces\/([^/]+)(?=\/.))?\/([^/]+)(?:\/([^/]+))?(?:\/([^/]+))?$/.exec(
      url.pathname,
    )
  if (!match) return undefined
  const [, group = '', namespace = '', resource = '', name = '', subresource = ''] = match
  const isWatch = url.searchParams.get('watch') !== null
  const verb = method === 'GET' ? (isWatch ? 'watch' : name === '' ? 'list' : 'get') : (writes[method] ?? method)
  const what = `${group}/${resource}${subresource === '' ? '' : `/${subresource}`}`
  return `${verb} ${what}${name === '' ? '' : ` ${name}`}${namespace === '' ? '' : ` in ${namespace}`}`
}
