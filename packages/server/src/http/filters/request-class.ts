import type { RequestInfo } from '../../request/request-info.ts'

const longVerbs: ReadonlySet<string> = new Set(['watch', 'proxy'])
const longSubresources: ReadonlySet<string> = new Set(['attach', 'exec', 'proxy', 'log', 'portforward'])

/**
 * Whether a request lasts as long as the client wants, such as a watch or an exec. Such requests have no timeout and no in-flight
 * limit.
 */
export function isLongRunning(info: Pick<RequestInfo, 'isResource' | 'verb' | 'subresource'>): boolean {
  return info.isResource && (longVerbs.has(info.verb) || longSubresources.has(info.subresource))
}

/** Whether an HTTP method may change objects. */
export function isMutating(method: string): boolean {
  return method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS'
}
