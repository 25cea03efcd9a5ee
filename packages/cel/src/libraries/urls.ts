// URLs (apiserver/pkg/cel/library/urls.go).
import { GoURL, isRequestURI } from '@kubewright/base'
import { type CostEstimate, type CostNode, STRING_TRAVERSAL_COST, scaleRange } from '../define/cost-estimate.ts'
import { type CelFunction, type CelLibrary, defineLibrary } from '../define/library.ts'
import { CelError, noSuchOverload } from '../values/cel-error.ts'
import { BOOL, type CelType, listType, mapType, STRING, structType } from '../values/cel-type.ts'
import { ArrayList, ValueMap } from '../values/collections.ts'
import { CelOpaque, type CelValue } from '../values/values.ts'
import { NOMINAL_COST, traversalOfFirst } from './cost-rules.ts'

/** The result type of url(). */
export const URL_TYPE: CelType = structType('kubernetes.URL')

/** A URL as a CEL value. */
export class CelURL extends CelOpaque {
  readonly type: CelType = URL_TYPE
  readonly url: GoURL

  constructor(url: GoURL) {
    super()
    this.url = url
  }

  equals(other: CelValue): boolean {
    if (!(other instanceof CelURL)) throw noSuchOverload()
    return this.url.toString() === other.url.toString()
  }

  override toNative(): string {
    return this.url.toString()
  }
}

/** The URL functions: url, isURL and the accessors. */
export const urlsLibrary: CelLibrary = defineLibrary('kubernetes.urls', () => ({
  types: [{ type: URL_TYPE, identifier: false, equalityCost }],
  functions: [
    {
      name: 'url',
      cost: traversalOfFirst({ keepsSize: true }),
      overloads: [{ id: 'string_to_url', args: [STRING], result: URL_TYPE, evaluate: parseURL }],
    },
    {
      name: 'isURL',
      overloads: [{ id: 'is_url_string', args: [STRING], result: BOOL, evaluate: isRequestURI }],
    },
    accessor('getScheme', 'url_get_scheme', (url) => url.scheme),
    accessor('getHost', 'url_get_host', (url) => url.host),
    accessor('getHostname', 'url_get_hostname', (url) => url.hostname),
    accessor('getPort', 'url_get_port', (url) => url.port),
    accessor('getEscapedPath', 'url_get_escaped_path', (url) => url.escapedPath),
    accessor('getQuery', 'url_get_query', queryOf, mapType(STRING, listType(STRING))),
  ],
}))

function accessor(name: string, id: string, read: (url: GoURL) => CelValue, result: CelType = STRING): CelFunction {
  const evaluate = (value: CelURL): CelValue => read(value.url)
  return { name, cost: NOMINAL_COST, overloads: [{ id, member: true, args: [URL_TYPE], result, evaluate }] }
}

function parseURL(text: string): CelURL {
  try {
    // The strict parser decides whether the text is a URL; the lenient one also parses fragments.
    GoURL.parseRequestURI(text)
    return new CelURL(GoURL.parse(text))
  } catch (error) {
    throw new CelError(`URL parse error during conversion from string: ${(error as Error).message}`)
  }
}

function queryOf(url: GoURL): CelValue {
  return ValueMap.of([...url.query()].map(([key, values]) => [key, new ArrayList(values)]))
}

/** As in Kubernetes, only the size of the right operand counts. */
function equalityCost(_left: CostNode, right: CostNode): CostEstimate {
  return scaleRange({ min: 1, max: right.computedSize?.max ?? 1 }, STRING_TRAVERSAL_COST)
}
