import type { ApiRequest, ApiResponse } from '@kubewright/api'
import type { Clock } from '@kubewright/base'
import type { PathHandler } from '../request/path-handler.ts'
import type { RequestContext } from '../request/request-context.ts'
import { respondText } from '../request/respond.ts'
import { type ByteRange, NoOverlap, parseByteRange } from './byte-range.ts'
import type { OpenApiDocument, OpenApiDocuments, OpenApiDocumentsOptions } from './openapi-documents.ts'

const v2Protobuf = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf'
/** The media type that clients request; it contains an invalid character and stays for compatibility. */
const v2ProtobufRequested = 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf'
const year = 365 * 24 * 60 * 60 * 1000

/**
 * Serves /openapi/v2 and /openapi/v3 for all methods, with ETags. A document that is requested with its hash may be cached forever.
 * The code and the descriptions of documents are loaded by the first request, because most servers in tests receive none.
 */
export function openApiPaths(options: OpenApiDocumentsOptions, clock: Clock): PathHandler {
  let loaded: Promise<OpenApiDocuments> | undefined
  const load = async (): Promise<OpenApiDocuments> => {
    const { OpenApiDocuments } = await import('./openapi-documents.ts')
    return new OpenApiDocuments(options)
  }
  const respond = async ({ info, request }: RequestContext): Promise<ApiResponse> => {
    const documents = await (loaded ??= load())
    if (info.path === '/openapi/v2') return version2(documents, request)
    if (info.path === '/openapi/v3') {
      // kube-apiserver sends no Content-Type here, and Go detects this one.
      return serve(request, documents.index, 'text/plain; charset=utf-8', {})
    }
    return version3(documents, request, info.path.slice('/openapi/v3/'.length), clock)
  }
  return (context) => {
    const { path } = context.info
    return path === '/openapi/v2' || path === '/openapi/v3' || path.startsWith('/openapi/v3/')
      ? respond(context)
      : undefined
  }
}

function version2(documents: OpenApiDocuments, request: ApiRequest): ApiResponse {
  for (const type of acceptedTypes(request)) {
    if (matches(type, 'application/json')) return serve(request, documents.v2, 'application/json', { vary: 'Accept' })
    if (type === v2Protobuf || type === v2ProtobufRequested) {
      return serve(request, documents.v2Protobuf, v2Protobuf, { vary: 'Accept' })
    }
  }
  return { status: 406, headers: { vary: 'Accept', 'content-length': '0' } }
}

function version3(documents: OpenApiDocuments, request: ApiRequest, name: string, clock: Clock): ApiResponse {
  const document = documents.v3(name)
  if (!document) return { status: 404, headers: { 'content-length': '0' } }
  if (!acceptedTypes(request).some((type) => matches(type, 'application/json'))) {
    return { status: 406, headers: { vary: 'Accept', 'content-length': '0' } }
  }
  const hash = request.query.get('hash') ?? ''
  if (hash === '') return serve(request, document, 'application/json', { vary: 'Accept' })
  if (hash !== document.etag) {
    const location = documents.urlOf(name, document.etag)
    return { status: 301, headers: { location, vary: 'Accept', 'content-length': '0' } }
  }
  return serve(request, document, 'application/json', {
    vary: 'Accept',
    'cache-control': 'public, immutable',
    expires: new Date(clock.now() + year).toUTCString(),
  })
}

function serve(
  request: ApiRequest,
  { bytes, etag }: OpenApiDocument,
  contentType: string,
  more: Readonly<Record<string, string>>,
): ApiResponse {
  const quoted = `"${etag}"`
  const headers = { 'cache-control': 'no-cache, private', ...more, etag: quoted }
  const known = (request.headers['if-none-match'] ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  if (known.includes(quoted) || known.includes('*')) return { status: 304, headers }
  const ifRange = request.headers['if-range']
  const range = ifRange === undefined || ifRange === quoted ? (request.headers['range'] ?? '') : ''
  return partOf(bytes, range, contentType, headers)
}

/** The bytes that the Range header selects. kube-apiserver serves these documents with Go's file server, which has ranges. */
function partOf(
  bytes: Uint8Array,
  header: string,
  contentType: string,
  headers: Readonly<Record<string, string>>,
): ApiResponse {
  let range: ByteRange | undefined
  try {
    range = parseByteRange(header, bytes.length)
  } catch (error) {
    const { message } = error as Error
    const refused = respondText(416, `${message}\n`)
    const where = error instanceof NoOverlap ? { 'content-range': `bytes */${bytes.length}` } : {}
    return { ...refused, headers: { ...refused.headers, 'x-content-type-options': 'nosniff', ...where } }
  }
  const shown = { ...headers, 'accept-ranges': 'bytes', 'content-type': contentType }
  if (!range) return { status: 200, headers: { ...shown, 'content-length': String(bytes.length) }, body: bytes }
  const { start, length } = range
  const part = {
    'content-range': `bytes ${start}-${start + length - 1}/${bytes.length}`,
    'content-length': String(length),
  }
  return { status: 206, headers: { ...shown, ...part }, body: bytes.subarray(start, start + length) }
}

/** The media types of the Accept header, most preferred first. */
function acceptedTypes({ headers }: ApiRequest): string[] {
  const ranges = (headers['accept'] || '*/*').split(',').map((range) => {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim())
    const quality = parameters.find((parameter) => parameter.startsWith('q='))
    return { type, quality: quality === undefined ? 1 : Number(quality.slice(2)) }
  })
  return ranges.sort((a, b) => b.quality - a.quality).map(({ type }) => type)
}

function matches(type: string, offered: string): boolean {
  return type === '*/*' || type === offered || (type.endsWith('/*') && offered.startsWith(type.slice(0, -1)))
}
