import { type ApiError, newForbidden } from '@kubewright/api'
import { goQuote } from '@kubewright/base'
import type { AuthorizationAttributes } from './authorizer.ts'

/** The 403 error of a request that the authorizer denies, with the text of apiserver's responsewriters. */
export function forbiddenError(attributes: AuthorizationAttributes, reason: string): ApiError {
  const message = withoutHtml(messageOf(attributes))
  const { group, resource, name, isResource } = attributes
  const about = isResource ? { group, resource } : { group: '', resource: '' }
  return newForbidden(about, isResource ? name : '', reason === '' ? message : `${message}: ${reason}`)
}

function messageOf({
  user,
  verb,
  isResource,
  path,
  group,
  resource,
  subresource,
  namespace,
}: AuthorizationAttributes): string {
  const who = `User ${goQuote(user.name)} cannot ${verb}`
  if (!isResource) return `${who} path ${goQuote(path)}`
  const what = subresource === '' ? resource : `${resource}/${subresource}`
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace ${goQuote(namespace)}`
  return `${who} resource ${goQuote(what)} in API group ${goQuote(group)} ${where}`
}

/** Escapes HTML: the text contains values that the client sent. */
function withoutHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
