import { type ApiRequest, newNotAcceptable } from '@kubewright/api'
import type { ProtobufTypes } from '../codec/protobuf/protobuf-types.ts'
import { defaultServedRelease } from '../codec/served-release.ts'
import { notAcceptable } from './route-errors.ts'

/** The media types of objects. */
export type MediaType = 'application/json' | 'application/yaml' | 'application/vnd.kubernetes.protobuf'

/** The form in which the client wants the response. */
export interface Representation {
  readonly mediaType: MediaType
  /** The kind to convert objects to; undefined for their own. */
  readonly as?: 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList' | undefined
  /** apiVersion of that kind: meta.k8s.io/v1 or v1beta1. */
  readonly asVersion?: string | undefined
  /** The query parameter includeObject, for tables; validated when the table is built. */
  readonly includeObject?: string | undefined
  readonly pretty: boolean
  /** The types of protobuf bodies. */
  readonly types: ProtobufTypes
}

/** Whether the response is protobuf. Stored bytes are JSON and cannot be sent as they are then. */
export function isProtobuf(representation: Representation): boolean {
  return representation.mediaType === 'application/vnd.kubernetes.protobuf'
}

/** The media types in which objects are served, in the order of kube-apiserver's error texts. */
export const servedTypes: readonly string[] = [
  'application/json',
  'application/yaml',
  'application/vnd.kubernetes.protobuf',
]
const streamTypes = ['application/json;stream=watch', 'application/vnd.kubernetes.protobuf;stream=watch']

interface MediaRange {
  readonly type: string
  readonly parameters: ReadonlyMap<string, string>
  readonly quality: number
}

/** The representations that a path offers. */
export interface Offers {
  /** The kinds that objects can be converted to: none, PartialObjectMetadata, or also Table. */
  readonly conversions: 'none' | 'metadata' | 'all'
  /** Whether the path also serves watches; the router's 406 text then lists the stream types. */
  readonly streams: boolean
  /** Whether objects have a protobuf form; conversions of them always have one. @default true */
  readonly protobuf?: boolean | undefined
  /** Whether a router refuses media types before the serializer does. @default true */
  readonly routed?: boolean | undefined
}

/** The parts of a request that negotiation reads. */
export type NegotiatedRequest = Pick<ApiRequest, 'headers' | 'query'>

/**
 * Picks the representation of a response from the Accept header. As in kube-apiserver, two layers can refuse: the router, which
 * compares whole media types, and the serializer, which also looks at `as=` parameters.
 */
export function negotiate(
  { headers, query }: NegotiatedRequest,
  offers: Offers,
  types: ProtobufTypes = defaultServedRelease,
): Representation {
  const accept = headers['accept']
  const pretty = prettyWanted(query, headers['user-agent'])
  if (accept === undefined || accept.trim() === '') return { mediaType: 'application/json', pretty, types }
  const ranges = parseAccept(accept)
  if (offers.routed !== false) checkRoute(ranges, offers.streams)
  for (const { type, parameters } of ranges) {
    const mediaType = type === '*/*' || type === 'application/*' ? 'application/json' : type
    if (!isServed(mediaType)) continue
    const as = parameters.get('as')
    const wantsProtobuf = mediaType === 'application/vnd.kubernetes.protobuf'
    if (wantsProtobuf && (as === undefined ? offers.protobuf === false : as === 'Table')) continue
    if (as === undefined) return { mediaType, pretty: parameters.get('pretty') === '1' || pretty, types }
    const version = parameters.get('v') ?? ''
    const group = parameters.get('g') ?? ''
    if (offersConversion(offers, as) && isKnownConversion(as, version, group)) {
      return {
        mediaType,
        as: as as NonNullable<Representation['as']>,
        asVersion: `${group}/${version}`,
        includeObject: query.get('includeObject') ?? '',
        pretty,
        types,
      }
    }
  }
  throw newNotAcceptable(servedTypes)
}

/** Throws the 406 of the router: it compares whole media types only. */
export function requireRoute({ headers }: Pick<NegotiatedRequest, 'headers'>, streams: boolean): void {
  const accept = headers['accept']
  if (accept !== undefined && accept.trim() !== '') checkRoute(parseAccept(accept), streams)
}

/** Throws the 406 of a router that serves text besides objects, and of the serializer, which knows objects only. */
export function requireText(request: NegotiatedRequest): void {
  const accept = request.headers['accept']
  const types = ['text/plain', ...servedTypes]
  if (accept && !parseAccept(accept).some(({ type }) => type === '*/*' || types.includes(type))) {
    throw notAcceptable(types)
  }
  negotiate(request, { conversions: 'metadata', streams: false, routed: false })
}

/** Whether the router finds a route for the Accept header. */
export function hasRoute({ headers }: Pick<NegotiatedRequest, 'headers'>): boolean {
  const accept = headers['accept']
  return accept === undefined || accept.trim() === '' || parseAccept(accept).some(isRouted)
}

function isRouted({ type }: MediaRange): boolean {
  return type === '*/*' || isServed(type)
}

function checkRoute(ranges: readonly MediaRange[], streams: boolean): void {
  if (ranges.some(isRouted)) return
  throw notAcceptable([...servedTypes, ...(streams ? streamTypes : [])])
}

/** The representation of a watch. YAML cannot be streamed: a client that prefers it is refused. */
export function requireStream(representation: Representation): Representation {
  if (representation.mediaType === 'application/yaml') throw newNotAcceptable(streamTypes)
  return representation
}

/** Picks the representation of an error: the first served media type of the Accept header, else JSON. Never refuses. */
export function negotiateError({ headers, query }: NegotiatedRequest): Representation {
  const pretty = prettyWanted(query, headers['user-agent'])
  for (const { type, parameters } of parseAccept(headers['accept'] ?? '')) {
    // Errors are never converted to another kind.
    if (parameters.has('as')) continue
    if (type === '*/*' || type === 'application/*') break
    if (isServed(type)) return { mediaType: type, pretty, types: defaultServedRelease }
  }
  return { mediaType: 'application/json', pretty, types: defaultServedRelease }
}

/** Whether objects are served and accepted in the media type. */
export function isServed(type: string): type is MediaType {
  return servedTypes.includes(type)
}

function offersConversion({ conversions }: Offers, as: string): boolean {
  return conversions === 'all' || (conversions === 'metadata' && as !== 'Table')
}

function isKnownConversion(as: string, version: string, group: string): boolean {
  if (group !== 'meta.k8s.io' || (version !== 'v1' && version !== 'v1beta1')) return false
  return as === 'Table' || as === 'PartialObjectMetadata' || as === 'PartialObjectMetadataList'
}

function parseAccept(accept: string): MediaRange[] {
  const ranges = accept.split(',').map((part): MediaRange => {
    const [type = '', ...rest] = part.split(';').map((text) => text.trim())
    const parameters = new Map(
      rest.map((text) => {
        const at = text.indexOf('=')
        return at < 0 ? [text, ''] : [text.slice(0, at).trim(), text.slice(at + 1).trim()]
      }),
    )
    const quality = Number(parameters.get('q') ?? '1')
    return { type, parameters, quality: Number.isFinite(quality) ? quality : 1 }
  })
  // The sort is stable: equal qualities keep the order of the header.
  return ranges.sort((a, b) => b.quality - a.quality)
}

/** Whether JSON is indented: when the query asks for it, or by default for browsers, curl and wget. */
function prettyWanted(query: URLSearchParams, userAgent = ''): boolean {
  const wanted = query.get('pretty')
  if (wanted !== null) return wanted !== 'false' && wanted !== '0'
  return userAgent.startsWith('curl') || userAgent.startsWith('Wget') || userAgent.startsWith('Mozilla/5.0')
}
