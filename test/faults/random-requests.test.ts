// Ten thousand malformed requests: recorded requests with random mutations.
import { parseYaml } from '@kubewright/api'
import { isJsonObject, type Random, seededRandom } from '@kubewright/base'
import { describe, expect, test } from 'vitest'
import type { RequestSpec } from '../conformance/case-format.ts'
import { HttpClient } from '../conformance/http-client.ts'
import { targetOfKubeconfig } from '../conformance/target.ts'
import { alsoInKubernetes, formattingSlips, unreachable } from '../fuzz/requests/expected-errors.ts'
import { recordedRequests } from '../fuzz/requests/recorded-requests.ts'
import { TemporaryFolder, UpProcess } from '../up/up-process.ts'

const count = 10_000
const concurrency = 16
/** The random seed. A failure prints it. */
const seed = process.env['KUBEWRIGHT_SEED'] ?? 'random requests'

const oddities: readonly unknown[] = [
  null,
  '',
  0,
  -1,
  1.5,
  1e300,
  true,
  [],
  {},
  [null],
  { '': '' },
  '\u0000',
  '\ud800',
  'a'.repeat(300),
  '2020-01-01T00:00:00Z',
  '1Gi',
  '../..',
  'kind',
  { $patch: 'replace' },
  { $patch: 'delete' },
  { $retainKeys: ['x'] },
  { '$setElementOrder/x': [1] },
  '__proto__',
  { constructor: { prototype: 1 } },
]

class Mutator {
  readonly #random: Random
  readonly #requests: readonly RequestSpec[]

  constructor(random: Random, requests: readonly RequestSpec[]) {
    this.#random = random
    this.#requests = requests
  }

  /** A request with a few random mutations. */
  next(): RequestSpec {
    const base = this.#pick(this.#requests)
    let { method = 'GET', path, query, headers, body, as } = base
    if (this.#chance(0.15)) method = this.#pick(['GET', 'PUT', 'POST', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE'])
    if (this.#chance(0.25)) path = this.#path(path)
    if (this.#chance(0.2)) query = { ...query, ...this.#query() }
    if (this.#chance(0.2)) headers = { ...headers, ...this.#headers() }
    if (this.#chance(0.1)) body = this.#pick(this.#requests).body
    if (typeof body === 'string') body = this.#text(body)
    else if (body !== undefined && this.#chance(0.7)) body = this.#value(body)
    // A watch would not end on its own.
    const endless = /watch/.test(path + JSON.stringify(query ?? {})) ? { timeoutSeconds: '1' } : {}
    return {
      method,
      path,
      query: { ...query, ...endless },
      noRetry: true,
      ...(headers ? { headers } : {}),
      ...(body === undefined ? {} : { body }),
      ...(as ? { as } : {}),
    }
  }

  #chance(probability: number): boolean {
    return this.#random.next() < probability
  }

  #pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.#random.next() * list.length)]!
  }

  #path(path: string): string {
    const parts = path.split('/')
    const at = Math.floor(this.#random.next() * parts.length)
    const odd = ['', '..', '%00', '%2F', '%ff', 'status', 'scale', 'nothing', 'pods', 'a b', '☃', 'v1', 'watch', '%']
    if (this.#chance(0.5)) parts[at] = encodeURI(this.#pick(odd)).replaceAll('%25', '%')
    else parts.splice(at, this.#chance(0.5) ? 1 : 0, ...(this.#chance(0.5) ? [encodeURI(this.#pick(odd))] : []))
    return parts.join('/').replace(/^(?!\/)/, '/')
  }

  #query(): Record<string, string> {
    const names = [
      'dryRun',
      'fieldManager',
      'fieldValidation',
      'limit',
      'continue',
      'resourceVersion',
      'resourceVersionMatch',
      'labelSelector',
      'fieldSelector',
      'force',
      'propagationPolicy',
      'gracePeriodSeconds',
      'pretty',
      'sendInitialEvents',
      'allowWatchBookmarks',
      'timeout',
    ]
    const values = [
      '',
      'All',
      '-1',
      '0',
      '1',
      'x',
      'true',
      'a=b',
      'a in (b',
      '99999999999999999999',
      'Strict',
      '%',
      'NotOlderThan',
      'Exact',
      'e30=',
      '1s',
    ]
    return { [this.#pick(names)]: this.#pick(values) }
  }

  #headers(): Record<string, string> {
    const types = [
      'application/json',
      'application/yaml',
      'application/merge-patch+json',
      'application/json-patch+json',
      'application/strategic-merge-patch+json',
      'application/apply-patch+yaml',
      'application/vnd.kubernetes.protobuf',
      'application/cbor',
      'text/plain',
      'x',
      '*/*;q=x',
      'application/json;as=Table;v=v1;g=meta.k8s.io',
      'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
      'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json',
    ]
    return { [this.#pick(['content-type', 'accept', 'if-none-match', 'impersonate-user'])]: this.#pick(types) }
  }

  #text(text: string): string {
    const at = Math.floor(this.#random.next() * (text.length + 1))
    const odd = this.#pick(['', '{', '}', '"', '\u0000', ': ', '- ', '&a ', '*a', '!!x ', '\t', '\n'])
    return text.slice(0, at) + odd + text.slice(at + (this.#chance(0.5) ? 1 : 0))
  }

  /** The value with one nested member replaced, removed, renamed or duplicated. */
  #value(value: unknown): unknown {
    if (this.#chance(0.15)) return this.#pick(oddities)
    if (Array.isArray(value)) {
      const copy = [...value]
      const at = Math.floor(this.#random.next() * (copy.length + 1))
      if (at === copy.length) copy.push(copy.length > 0 && this.#chance(0.5) ? copy[0] : this.#pick(oddities))
      else if (this.#chance(0.1)) copy.splice(at, 1)
      else copy[at] = this.#value(copy[at])
      return copy
    }
    if (!isJsonObject(value)) return this.#chance(0.7) ? this.#pick(oddities) : value
    const entries = Object.entries(value)
    if (entries.length === 0) return this.#pick(oddities)
    const at = Math.floor(this.#random.next() * entries.length)
    const [key, member] = entries[at]!
    const change = this.#random.next()
    if (change < 0.1) entries.splice(at, 1)
    else entries[at] = change < 0.2 ? [`${key}x`, member] : [key, this.#value(member)]
    return Object.fromEntries(entries)
  }
}

function isAlsoInKubernetes({ query }: RequestSpec, status: number, outcome: unknown): boolean {
  const body = isJsonObject(outcome) ? outcome['body'] : undefined
  const text = isJsonObject(body) && typeof body['$text'] === 'string' ? parseYaml(body['$text']) : body
  const message = isJsonObject(text) ? String(text['message'] ?? '') : ''
  // An APIService whose server is unreachable.
  if (status === 503) {
    return (isJsonObject(body) && body['$text'] === 'service unavailable\n') || unreachable.test(message)
  }
  // Protobuf responses are not decoded here; the log contains internal errors.
  if (isJsonObject(body) && '$binary' in body) return true
  if (status === 504) {
    // A pod waits for its service account about as long as the shortest requested timeout.
    const isLate = message === 'Timeout: request did not complete within the allotted timeout'
    return message.startsWith('Timeout: Too large resource version: ') || (isLate && query?.['timeout'] !== undefined)
  }
  return status === 500 && alsoInKubernetes.some((pattern) => pattern.test(message))
}

describe('kubewright up', () => {
  test(`responds to ${count} random requests without a crash or an unexpected 500`, { timeout: 300_000 }, async () => {
    using folder = new TemporaryFolder()
    await using up = await UpProcess.start(['--memory', '--controllers', 'none'], folder.path)
    using client = new HttpClient(targetOfKubeconfig(up.kubeconfig))
    const mutator = new Mutator(seededRandom(seed), recordedRequests('default'))
    const statuses = new Map<number, number>()
    const wrong: string[] = []
    let sent = 0
    const worker = async (): Promise<void> => {
      while (sent < count && wrong.length < 20) {
        sent++
        const request = mutator.next()
        const send = (one: RequestSpec) => client.request(one).catch((error: unknown) => String(error))
        let outcome = await send(request)
        // The response to a HEAD request has no body: the same GET shows the message.
        if (typeof outcome !== 'string' && outcome.status >= 500 && request.method === 'HEAD') {
          outcome = await send({ ...request, method: 'GET' })
        }
        const status = typeof outcome === 'string' ? 0 : outcome.status
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
        // Node rejects some of the paths and headers before sending them.
        if (typeof outcome === 'string' && /ERR_UNESCAPED|ERR_INVALID|TypeError/.test(outcome)) continue
        const answer = typeof outcome === 'string' ? outcome : JSON.stringify(outcome.body)
        const own = status === 0 || (status >= 500 && !isAlsoInKubernetes(request, status, outcome))
        if (own || formattingSlips.test(answer)) {
          wrong.push(`${status} ${answer.slice(0, 300)} to ${JSON.stringify(request).slice(0, 600)}`)
        }
      }
    }
    await Promise.all(Array.from({ length: concurrency }, worker))
    expect(wrong, `seed ${seed}`).toEqual([])
    expect(statuses.get(200)).toBeGreaterThan(count / 50)
    expect((await client.request({ path: '/readyz' })).body).toEqual({ $text: 'ok' })
    expect(up.notes.filter((line) => line.includes('Request failed'))).toEqual([])
  })
})
