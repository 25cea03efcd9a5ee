import { newNotAcceptable } from '@kubewright/api'
import { notAcceptable } from './route-errors.ts'

/** The forms that objects come in. */
export type MediaType = 'application/json' | 'application/yaml' | 'application/vnd.kubernetes.protobuf'

/** How the client wants the answer. */
export interface Representation {
  readonly mediaType: MediaType
  /** Another kind to convert to. */
  readonly as?: 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList'
  /** apiVersion of that kind: meta.k8s.io/v1 or v1beta1. */
  readonly asVersion?: string
  /** The query parameter includeObject, for tables; it is checked when the table is made. */
  readonly includeObject?: string
  readonly pretty: boolean
}

/** Whether the answer is protobuf, for which stored bytes, being JSON, are of no use. */
export function isProtobuf(representation: Representation): boolean {
  return representation.mediaType === 'application/vnd.kubernetes.protobuf'
}

/** The media types that objects are served in, as the server lists them. */
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

/** What a route may be asked for besides plain objects. */
export interface Offers {
  readonly conversions: boolean
  /** The route also streams, which the message about an Accept that cannot be served mentions. */
  readonly streams: boolean
  /** Objects have a protobuf form, which custom resources do not; conversions of them do. @default true */
  readonly protobuf?: boolean
}

/**
 * Picks how to answer from the Accept header. Two layers refuse in the real server, and so here: the router, which compares whole media
 * types, and the serializer, which looks at `as=` parameters. Custom resources only meet the second.
 */
export function negotiate(
  accept: string | undefined,
  query: URLSearchParams,
  userAgent: string,
  offers: Offers,
): Representation {
  const pretty = prettyWanted(query, userAgent)
  if (accept === undefined || accept.trim() === '') return { mediaType: 'application/json', pretty }
  const ranges = parseAccept(accept)
  // Custom resources are served past the router.
  const routed = offers.protobuf !== false
  if (routed && !ranges.some((range) => range.type === '*/*' || isServed(range.type))) {
    throw notAcceptable([...servedTypes, ...(offers.streams ? streamTypes : [])])
  }
  for (const { type, parameters } of ranges) {
    const mediaType = type === '*/*' || type === 'application/*' ? 'application/json' : type
    if (!isServed(mediaType)) continue
    const as = parameters.get('as')
    const isProtobuf = mediaType === 'application/vnd.kubernetes.protobuf'
    if (isProtobuf && (as === undefined ? offers.protobuf === false : as === 'Table')) continue
    if (as === undefined) return { mediaType, pretty: parameters.get('pretty') === '1' || pretty }
    const version = parameters.get('v') ?? ''
    const group = parameters.get('g') ?? ''
    if (offers.conversions && isKnownConversion(as, version, group)) {
      return {
        mediaType,
        as: as as NonNullable<Representation['as']>,
        asVersion: `${group}/${version}`,
        includeObject: query.get('includeObject') ?? '',
        pretty,
      }
    }
  }
  throw newNotAcceptable(servedTypes)
}

/** Picks how to stream: YAML cannot be, and a client that prefers it is told so. */
export function negotiateStream(
  accept: string | undefined,
  query: URLSearchParams,
  userAgent: string,
  protobuf = true,
): Representation {
  const representation = negotiate(accept, query, userAgent, { conversions: true, streams: true, protobuf })
  if (representation.mediaType === 'application/yaml') throw newNotAcceptable(streamTypes)
  return representation
}

/** How an error is shown to a client: in the first form of the Accept header that there is, else as JSON. */
export function representationOfErrors(
  accept: string | undefined,
  query: URLSearchParams,
  userAgent: string,
): Representation {
  const pretty = prettyWanted(query, userAgent)
  for (const { type, parameters } of parseAccept(accept ?? '')) {
    // An error is not converted to another kind.
    if (parameters.has('as')) continue
    if (type === '*/*' || type === 'application/*') break
    if (isServed(type)) return { mediaType: type, pretty }
  }
  return { mediaType: 'application/json', pretty }
}

/** Whether objects are served, and taken, in the media type. */
export function isServed(type: string): type is MediaType {
  return servedTypes.includes(type)
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
  // Stable: equal qualities keep the order of the header.
  return ranges.sort((a, b) => b.quality - a.quality)
}

/** People get indented JSON: when they ask, or come with a browser or curl. */
function prettyWanted(query: URLSearchParams, userAgent: string): boolean {
  const asked = query.get('pretty')
  if (asked !== null) return asked !== 'false' && asked !== '0'
  return userAgent.startsWith('curl') || userAgent.startsWith('Wget') || userAgent.startsWith('Mozilla/5.0')
}
