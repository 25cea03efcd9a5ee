import type { IncomingHttpHeaders } from 'node:http2'

/** Headers of which only the first value counts when they are repeated, as in Node. The values of others are joined. */
const single: ReadonlySet<string> = new Set([
  'age',
  'authorization',
  'content-encoding',
  'content-language',
  'content-length',
  'content-location',
  'content-md5',
  'content-range',
  'content-type',
  'date',
  'etag',
  'expires',
  'from',
  'host',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-range',
  'if-unmodified-since',
  'last-modified',
  'location',
  'max-forwards',
  'proxy-authorization',
  'range',
  'referer',
  'retry-after',
  'user-agent',
])
const pseudo: ReadonlySet<string> = new Set([':method', ':scheme', ':authority', ':path'])
/** Headers of HTTP/1.1 connections, which are malformed in HTTP/2. */
const ofHttp1: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
])

/** The headers of a request as an object, or undefined if they are malformed (RFC 9113, section 8). */
export function requestHeaders(pairs: readonly string[]): IncomingHttpHeaders | undefined {
  const headers = Object.create(null) as Record<string, string | string[] | undefined>
  let isPseudo = true
  for (let i = 0; i < pairs.length; i += 2) {
    const name = pairs[i]!
    const value = pairs[i + 1]!
    if (name.charCodeAt(0) === 0x3a) {
      if (!isPseudo || !pseudo.has(name) || headers[name] !== undefined) return undefined
      headers[name] = value
      continue
    }
    isPseudo = false
    if (ofHttp1.has(name) || (name === 'te' && value !== 'trailers')) return undefined
    add(headers, name, value)
  }
  return isComplete(headers) ? (headers as IncomingHttpHeaders) : undefined
}

function add(headers: Record<string, string | string[] | undefined>, name: string, value: string): void {
  const existing = headers[name]
  if (name === 'set-cookie') headers[name] = existing === undefined ? [value] : [...(existing as string[]), value]
  else if (existing === undefined) headers[name] = value
  else if (name === 'cookie') headers[name] = `${existing as string}; ${value}`
  else if (!single.has(name)) headers[name] = `${existing as string}, ${value}`
}

function isComplete(headers: Readonly<Record<string, string | string[] | undefined>>): boolean {
  const { ':method': method, ':path': path, ':scheme': scheme, ':authority': authority } = headers
  if (method === undefined || method === '') return false
  if (method === 'CONNECT') return path === undefined && scheme === undefined && authority !== undefined
  if (scheme === undefined || path === undefined) return false
  return (path as string).startsWith('/') || (path === '*' && method === 'OPTIONS')
}
