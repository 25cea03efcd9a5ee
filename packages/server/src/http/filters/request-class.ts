import type { RequestInfo } from '../../request/request-info.ts'

const longVerbs: ReadonlySet<string> = new Set(['watch', 'proxy'])
const longSubresources: ReadonlySet<string> = new Set(['attach', 'exec', 'proxy', 'log', 'portforward'])

/** Requests that last as long as the client wants: no limit of time or number is for them. */
export function isLongRunning(info: Pick<RequestInfo, 'isResource' | 'verb' | 'subresource'>): boolean {
  return info.isResource && (longVerbs.has(info.verb) || longSubresources.has(info.subresource))
}

/** Whether a method may change something. */
export function isMutating(method: string): boolean {
  return method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS'
}
