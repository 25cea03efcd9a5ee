import { encodeYaml } from '@kubewright/api'
import { isJsonObject, type Random } from '@kubewright/base'
import { encodeProtobuf } from '../../../packages/server/src/codec/protobuf/envelope.ts'
import { defaultServedRelease } from '../../../packages/server/src/codec/served-release.ts'
import type { RequestSpec } from '../../conformance/case-format.ts'
import { amplify, chance, mutateBytes, mutateText, mutateValue, oddValues, wellFormed } from '../mutate.ts'
import type { FuzzRequest, FuzzUser } from './fuzz-request.ts'
import { sampleObjects } from './recorded-requests.ts'
import type { FuzzedResource } from './served-resources.ts'
import { customGroup, lowUser } from './world.ts'

const names: readonly string[] = [
  'a',
  'b',
  'c',
  'fuzz',
  'mine',
  'hidden',
  'default',
  'low-role',
  'kubernetes',
  'missing',
]
const namespaces: readonly string[] = ['low', 'low', 'low', 'other', 'default', 'kube-system', 'missing']
const methods: readonly string[] = [
  'GET',
  'GET',
  'GET',
  'POST',
  'PUT',
  'PATCH',
  'PATCH',
  'DELETE',
  'HEAD',
  'OPTIONS',
  'TRACE',
]
const oddMethods: readonly string[] = ['constructor', 'PROPFIND', 'get', '__proto__', 'WATCH', 'X'.repeat(100)]
const oddSegments: readonly string[] = [
  ...[
    '',
    '.',
    '..',
    '%00',
    '%2F',
    '%2f..',
    '%ff',
    '%',
    'status',
    'scale',
    'nothing',
    'pods',
    'a b',
    '☃',
    'v1',
    'watch',
    'proxy',
  ],
  ...[
    'constructor',
    '__proto__',
    'namespaces',
    'finalize',
    'log',
    'exec',
    'binding',
    'eviction',
    'ephemeralcontainers',
    'x'.repeat(300),
  ],
]
const patchTypes: readonly string[] = [
  'application/merge-patch+json',
  'application/json-patch+json',
  'application/strategic-merge-patch+json',
  'application/apply-patch+yaml',
  'application/apply-patch+cbor',
]
const bodyTypes: readonly string[] = [
  'application/json',
  'application/json; charset=utf-8',
  'application/yaml',
  'application/vnd.kubernetes.protobuf',
  'application/cbor',
  'text/plain',
  'x',
  ';;',
  'application/json;'.repeat(50),
]
const accepts: readonly string[] = [
  'application/json',
  'application/yaml',
  'application/vnd.kubernetes.protobuf',
  'application/vnd.kubernetes.protobuf;stream=watch',
  'application/cbor',
  'application/cbor-seq',
  'text/plain',
  '*/*;q=x',
  'application/json;as=Table;v=v1;g=meta.k8s.io',
  'application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io',
  'application/yaml;as=Table;v=v1;g=meta.k8s.io',
  'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
  'application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
  'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json',
  'application/vnd.kubernetes.protobuf;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io',
  'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
  'application/com.github.proto-openapi.spec.v2@v1.0+protobuf',
]
const queryNames: readonly string[] = [
  ...[
    'dryRun',
    'fieldManager',
    'fieldValidation',
    'limit',
    'continue',
    'resourceVersion',
    'resourceVersionMatch',
    'labelSelector',
  ],
  ...[
    'fieldSelector',
    'force',
    'propagationPolicy',
    'gracePeriodSeconds',
    'pretty',
    'sendInitialEvents',
    'allowWatchBookmarks',
  ],
  ...[
    'watch',
    'includeObject',
    'orphanDependents',
    'exact',
    'export',
    'follow',
    'tailLines',
    'container',
    'command',
    'path',
    'verbose',
  ],
]
const queryValues: readonly string[] = [
  ...[
    '',
    'All',
    '-1',
    '0',
    '1',
    '2',
    'x',
    'true',
    'false',
    'a=b',
    'a in (b',
    'a in (b,c),!d',
    'metadata.name=mine',
    'metadata.name!=mine',
  ],
  ...[
    'metadata.name=mine,metadata.name!=mine',
    'metadata.namespace=low',
    'metadata.namespace!=low',
    'metadata.name=hidden',
    'spec.size=1',
  ],
  ...[
    '99999999999999999999',
    '1.5',
    '-9223372036854775808',
    'Strict',
    'Warn',
    'Ignore',
    '%',
    'NotOlderThan',
    'Exact',
    'e30=',
    '1s',
    '1e9h',
  ],
  ...[
    'Foreground',
    'Background',
    'Orphan',
    'Metadata',
    'Object',
    'None',
    '__proto__',
    'constructor',
    '☃',
    'a,'.repeat(1000),
  ],
  Buffer.from('{"v":"meta.k8s.io/v1","rv":1,"start":"a\\u0000"}').toString('base64url'),
  Buffer.from('{"v":"meta.k8s.io/v1","rv":1.5,"start":"../other/hidden"}').toString('base64url'),
]
const plainPaths: readonly string[] = [
  ...[
    '/',
    '/healthz',
    '/livez',
    '/readyz?verbose',
    '/livez/ping',
    '/readyz/etcd',
    '/metrics',
    '/version',
    '/version/',
    '/api',
    '/apis',
    '/api/v1',
  ],
  ...[
    '/apis/apps',
    '/apis/apps/v1',
    `/apis/${customGroup}`,
    `/apis/${customGroup}/v2`,
    '/openapi/v2',
    '/openapi/v3',
    '/openapi/v3/api/v1',
  ],
  ...[
    '/openapi/v3/apis/apps/v1',
    '/.well-known/openid-configuration',
    '/openid/v1/jwks',
    '/logs/',
    '/debug/pprof/',
    '/debug/flags/v',
    '/swagger.json',
  ],
  ...[
    '/apis/missing.example.com/v1',
    '/apis/missing.example.com/v1/things',
    '/api/v1/watch',
    '/api/v1/proxy',
    '/apis/x',
    '/api//v1',
    '//api/v1/pods',
  ],
]

/** Generates random requests of three users from recorded requests and from discovery. */
export class RequestGenerator {
  readonly #random: Random
  readonly #recorded: readonly RequestSpec[]
  readonly #resources: readonly FuzzedResource[]
  readonly #ownResources: readonly FuzzedResource[]
  readonly #samples: ReadonlyMap<string, readonly Record<string, unknown>[]>

  constructor(random: Random, recorded: readonly RequestSpec[], resources: readonly FuzzedResource[]) {
    this.#random = random
    this.#recorded = recorded
    this.#resources = resources
    this.#ownResources = resources.filter(
      ({ namespaced, group, resource }) => namespaced && isOwnResource(group, resource),
    )
    this.#samples = sampleObjects(recorded)
  }

  next(): FuzzRequest {
    const random = this.#random
    const user = random.pick<FuzzUser>(['anonymous', 'low', 'low', 'low', 'admin', 'admin', 'admin'])
    const made = chance(random, user === 'admin' ? 0.4 : 0.1) ? this.#fromRecorded() : this.#fromDiscovery(user)
    const headers: Record<string, string> = { accept: 'application/json', 'user-agent': 'fuzz/1.0', ...made.headers }
    if (chance(random, 0.25)) headers['accept'] = random.pick(accepts)
    if (chance(random, 0.02)) headers['accept'] = mutateText(random, headers['accept']!).replace(/[^\x20-\x7e]/g, '?')
    if (chance(random, 0.05)) Object.assign(headers, this.#oddHeaders())
    let path = made.path
    if (chance(random, 0.12)) path = this.#path(path)
    for (let more = chance(random, 0.25) ? 1 + random.int(3) : 0; more > 0; more--)
      path = withQuery(path, this.#parameter())
    let method = made.method
    if (chance(random, 0.1)) method = random.pick(methods)
    // A dropped stream costs a connection of HTTP/1.1.
    const protocol = chance(random, isStream(path) ? 0.1 : 0.5) ? 'http1' : 'http2'
    if (protocol === 'http2' && chance(random, 0.02)) method = random.pick(oddMethods)
    // The parser of the server resolves no dots, and the client must not either; other characters are the generator's own.
    path = encodePath(path)
    const request: FuzzRequest = {
      ...{ user, protocol, method, path, headers },
      ...(made.body === undefined || method === 'GET' || method === 'HEAD' || method === 'TRACE'
        ? {}
        : { body: made.body }),
      ...(isStream(path) ? { drop: true } : {}),
    }
    return harmless(request)
  }

  #fromRecorded(): Draft {
    const random = this.#random
    const base = random.pick(this.#recorded)
    let { method = 'GET', path, query, headers, body, as } = base
    if (chance(random, 0.1)) body = random.pick(this.#recorded).body
    if (typeof body === 'string') body = mutateText(random, body)
    else if (body !== undefined && chance(random, 0.7)) body = mutateValue(random, body)
    for (const [name, value] of Object.entries(query ?? {})) {
      for (const item of [value].flat()) path = withQuery(path, [name, String(item)])
    }
    const kept = Object.entries(headers ?? {}).filter((pair): pair is [string, string] => typeof pair[1] === 'string')
    const sent: Record<string, string> = Object.fromEntries(kept.map(([name, value]) => [name.toLowerCase(), value]))
    if (as && chance(random, 0.5)) sent['impersonate-user'] = as.user
    if (body !== undefined) sent['content-type'] ??= 'application/json'
    return { method, path, headers: sent, ...this.#encoded(body, sent) }
  }

  #fromDiscovery(user: FuzzUser): Draft {
    const random = this.#random
    // Most requests of the user with a Role are for its own resources: the others are denied before anything happens.
    const isOwn = user === 'low' && chance(random, 0.7)
    if (chance(random, 0.08))
      return { method: random.pick(['GET', 'GET', 'GET', 'HEAD', 'POST']), path: random.pick(plainPaths), headers: {} }
    const target = random.pick(isOwn ? this.#ownResources : this.#resources)
    const { group, version, resource } = target
    const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`
    const legacy = chance(random, 0.05) ? `/${random.pick(['watch', 'watch', 'proxy'])}` : ''
    const inNamespace =
      target.namespaced && chance(random, 0.85) ? `/namespaces/${isOwn ? 'low' : random.pick(namespaces)}` : ''
    let path = `${root}${legacy}${inNamespace}/${resource}`
    const method = random.pick(methods)
    const isNamed =
      method === 'POST' ? chance(random, 0.15) : method === 'GET' ? chance(random, 0.5) : chance(random, 0.9)
    if (isNamed) {
      path += `/${random.pick(names)}`
      if (chance(random, 0.2)) {
        const odd = [
          'status',
          'scale',
          'log',
          'exec',
          'attach',
          'portforward',
          'proxy',
          'proxy/a/b',
          'token',
          'approval',
          'finalize',
          'resize',
        ]
        path += `/${random.pick(target.subresources.length > 0 ? [...target.subresources, ...odd] : odd)}`
      }
    }
    if (method === 'GET' && chance(random, 0.15)) path = withQuery(path, ['watch', random.pick(['1', 'true', 'yes'])])
    if (method === 'PATCH') return this.#patch(path, target)
    if (method !== 'POST' && method !== 'PUT' && !(method === 'DELETE' && chance(random, 0.2)))
      return { method, path, headers: {} }
    const headers = { 'content-type': chance(random, 0.85) ? 'application/json' : random.pick(bodyTypes) }
    const body = method === 'DELETE' ? deleteOptions(random) : this.#object(target)
    return { method, path, headers, ...this.#encoded(body, headers) }
  }

  #patch(path: string, target: FuzzedResource): Draft {
    const random = this.#random
    const type = random.pick(patchTypes)
    const object = this.#object(target)
    let body: unknown = object
    if (type.startsWith('application/json-patch')) {
      const pointers = pointersOf(object)
      body = Array.from({ length: 1 + random.int(6) }, () => ({
        op: random.pick(['add', 'add', 'replace', 'remove', 'copy', 'move', 'test', 'x']),
        path: chance(random, 0.8) ? random.pick(pointers) : mutateText(random, random.pick(pointers)),
        ...(chance(random, 0.8) ? { value: random.pick(oddValues) } : {}),
        ...(chance(random, 0.4) ? { from: random.pick(pointers) } : {}),
      }))
    } else if (typeof object === 'object' && object !== null && chance(random, 0.6)) {
      // A few members of an object, as clients send them.
      const members = Object.entries(object).filter(() => chance(random, 0.6))
      body = Object.fromEntries(type.includes('apply') ? Object.entries(object) : members)
    }
    if (chance(random, 0.3)) body = mutateValue(random, body)
    const headers = { 'content-type': type }
    const full = type.includes('apply')
      ? withQuery(withQuery(path, ['fieldManager', random.pick(['f', 'g'])]), ['force', 'true'])
      : path
    return { method: 'PATCH', path: full, headers, ...this.#encoded(body, headers) }
  }

  /** A recorded object of the resource, or a minimal one, with a name of the fuzzer and possibly a mutation. */
  #object({ group, version, kind, resource }: FuzzedResource): unknown {
    const random = this.#random
    const apiVersion = group === '' ? version : `${group}/${version}`
    const known = this.#samples.get(`${apiVersion}/${kind}`) ?? []
    const metadata = { name: random.pick(names) }
    const spec = { size: random.int(5), names: ['a', 'b'], parts: [{ key: 'a', value: 'b' }], extra: { a: 1 } }
    const minimal = { apiVersion, kind, metadata, ...(resource === 'widgets' ? { spec } : {}) }
    const base = known.length > 0 && chance(random, 0.9) ? random.pick(known) : minimal
    const own = isJsonObject(base['metadata']) ? base['metadata'] : {}
    const { namespace: _, ...rest } = own as Record<string, unknown>
    let object: unknown = { ...base, metadata: { ...rest, ...(chance(random, 0.9) ? metadata : {}) } }
    for (let left = random.int(3); left > 0; left--) object = mutateValue(random, object)
    return object
  }

  /** The body in the form of its content type. Sometimes enlarged or damaged. */
  #encoded(body: unknown, headers: Record<string, string>): Pick<Draft, 'body'> {
    const random = this.#random
    if (body === undefined) return {}
    if (typeof body === 'object' && body !== null && '$base64' in body)
      return { body: { base64: String(body.$base64) } }
    if (typeof body === 'string') return { body }
    const value = chance(random, 0.006) ? amplify(random, body, random.pick([1000, 10_000, 100_000])) : body
    const type = headers['content-type'] ?? ''
    let text = JSON.stringify(value) ?? 'null'
    if (type.includes('protobuf')) {
      let bytes: Buffer
      try {
        bytes = encodeProtobuf(defaultServedRelease, value)
      } catch {
        bytes = Buffer.from(`k8s\0${text}`)
      }
      return { body: { base64: (chance(random, 0.6) ? mutateBytes(random, bytes) : bytes).toString('base64') } }
    }
    if (type.includes('cbor')) return { body: { base64: mutateBytes(random, Buffer.from(text)).toString('base64') } }
    if (type.includes('yaml') && chance(random, 0.7)) text = yamlOf(value, text)
    return { body: chance(random, 0.04) ? mutateText(random, text) : text }
  }

  #path(path: string): string {
    const random = this.#random
    const [before = '', ...search] = path.split('?')
    const parts = before.split('/')
    const at = random.int(parts.length)
    if (chance(random, 0.5)) parts[at] = random.pick(oddSegments)
    else parts.splice(at, chance(random, 0.5) ? 1 : 0, ...(chance(random, 0.5) ? [random.pick(oddSegments)] : []))
    return [parts.join('/').replace(/^(?!\/)/, '/'), ...search].join('?')
  }

  #parameter(): [string, string] {
    const random = this.#random
    const value = random.pick(queryValues)
    return [random.pick(queryNames), chance(random, 0.9) ? value : mutateText(random, value)]
  }

  #oddHeaders(): Record<string, string> {
    const random = this.#random
    return random.pick<Record<string, string>>([
      { 'impersonate-user': random.pick(['system:admin', lowUser, 'system:anonymous', 'x', '']) },
      { 'impersonate-user': 'x', 'impersonate-group': 'system:masters' },
      { 'impersonate-group': 'system:masters' },
      { 'impersonate-user': 'x', 'impersonate-extra-%': 'y' },
      { 'x-remote-user': 'system:admin', 'x-remote-group': 'system:masters' },
      { authorization: random.pick(['Bearer x', 'Bearer ', 'Basic YWRtaW46YWRtaW4=', 'Bearer e30.e30.e30', 'x']) },
      { 'if-none-match': '*' },
      { 'content-encoding': random.pick(['gzip', 'br', 'x']) },
      { 'accept-encoding': random.pick(['gzip', 'gzip;q=0', '*']) },
      { range: 'bytes=0-1' },
      { 'content-type': random.pick([...bodyTypes, ...patchTypes]) },
      { origin: 'https://evil.example.com', 'access-control-request-method': 'GET' },
      { 'audit-id': 'x'.repeat(200), 'x-forwarded-for': '127.0.0.1', 'x-forwarded-uri': '/api/v1/secrets' },
      { 'x-http-method-override': 'DELETE' },
    ])
  }
}

interface Draft {
  readonly method: string
  readonly path: string
  readonly headers: Record<string, string>
  readonly body?: NonNullable<FuzzRequest['body']>
}

const ownCore = /^(configmaps|services|persistentvolumeclaims|events|serviceaccounts|podtemplates|pods|secrets)$/

function isOwnResource(group: string, resource: string): boolean {
  return group === ''
    ? ownCore.test(resource)
    : ['apps', 'batch', customGroup, 'rbac.authorization.k8s.io'].includes(group)
}

/** The value as YAML; as JSON where it is nested too deep for the encoder. */
function yamlOf(value: unknown, json: string): string {
  try {
    return encodeYaml(value)
  } catch {
    return json
  }
}

function withQuery(path: string, [name, value]: readonly [string, string]): string {
  const pair = `${encodeURIComponent(name)}=${encodeURIComponent(wellFormed(value))}`
  return `${path}${path.includes('?') ? '&' : '?'}${pair}`
}

/** Percent-encodes what an HTTP client cannot send; leaves existing escapes, even invalid ones. */
function encodePath(path: string): string {
  return encodeURI(wellFormed(path)).replaceAll('%25', '%').replaceAll('#', '%23')
}

function isStream(path: string): boolean {
  return /watch|follow|exec|attach|portforward|proxy|\/log/.test(path)
}

function deleteOptions(random: Random): unknown {
  const options = {
    apiVersion: 'v1',
    kind: 'DeleteOptions',
    propagationPolicy: random.pick(['Foreground', 'Background', 'Orphan', 'x']),
    gracePeriodSeconds: random.pick([0, 1, -1]),
    preconditions: { resourceVersion: random.pick(['1', 'x']) },
  }
  return chance(random, 0.5) ? mutateValue(random, options) : options
}

/** JSON pointers to the members of an object. */
function pointersOf(
  value: unknown,
  prefix = '',
  found: string[] = ['', '/metadata/labels', '/metadata/annotations/a', '/-'],
): string[] {
  if (typeof value !== 'object' || value === null || found.length > 200) return found
  for (const [name, member] of Object.entries(value)) {
    const pointer = `${prefix}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
    found.push(pointer, ...(Array.isArray(member) ? [`${pointer}/-`] : []))
    pointersOf(member, pointer, found)
  }
  return found
}

const rbacPath = /rbac\.authorization/i
const webhookPath =
  /webhookconfigurations|validatingadmissionpolic|apiservices|certificatesigningrequests\/[^/]*\/approval/i

/**
 * The request without effects that would change the meaning of all later responses: rights of the fuzzed users, webhooks and policies
 * that deny everything, and namespaces that never finish their deletion without controllers.
 */
function harmless(request: FuzzRequest): FuzzRequest {
  const { path, method, user } = request
  if (method === 'GET' || method === 'HEAD') return request
  const decoded = path.replaceAll(/%2f/gi, '/')
  const { body: _, ...bodiless } = request
  const dry: FuzzRequest =
    method === 'DELETE'
      ? // With options in the body, those of the query do not count.
        { ...bodiless, method: 'GET' }
      : { ...request, path: withQuery(path.replaceAll(/dryRun=/gi, 'unused='), ['dryRun', 'All']) }
  if (method === 'DELETE' && /\/namespaces(\/+[^/?]*)?\/*(\?|$)/.test(decoded)) return dry
  if (/\/namespaces\/+[^/?]*\/+finalize/.test(decoded)) return dry
  // The administrator could grant rights to the other users, or remove them.
  if (user === 'admin' && (rbacPath.test(decoded) || webhookPath.test(decoded))) return dry
  // The user with a Role must keep it: without it, most of its requests would be denied.
  if (/roles|rolebindings/.test(decoded) && (/low-role|low-binding/.test(decoded) || method === 'DELETE')) return dry
  return request
}
