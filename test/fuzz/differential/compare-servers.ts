import { isJsonObject, seededRandom } from '@kubewright/base'
import type { RequestSpec } from '../../conformance/case-format.ts'
import { type Difference, differencesOf, withoutColumnTexts } from '../../conformance/compare.ts'
import { HttpClient } from '../../conformance/http-client.ts'
import { Normalizer } from '../../conformance/normalizer.ts'
import type { Target } from '../../conformance/target.ts'
import { ScenarioGenerator } from './generate-scenario.ts'
import type { Scenario } from './scenario.ts'

/** A kind of difference, with the number of requests that show it and the first of them. */
export interface DifferenceClass {
  readonly name: string
  count: number
  readonly scenario: Scenario
  /** The index of the request in the scenario. */
  readonly request: number
  readonly difference: Difference
}

/** The result of {@link compareServers}. */
export interface DifferentialReport {
  scenarios: number
  /** Scenarios without a difference. */
  equalScenarios: number
  requests: number
  equalRequests: number
  /** The requests by kind of scenario; built-in kinds count as one. */
  readonly byKind: Map<string, { requests: number; equal: number }>
  readonly classes: Map<string, DifferenceClass>
}

const readyAttempts = 30
const placeholders = [
  ['uid', 'uid'],
  ['rv', 'resourceVersion'],
  ['continue', 'continue'],
] as const

/** Texts that differ between two runs of the same server. */
const replacedTexts: [string, string][] = [
  ['\\b10\\.0\\.0\\.\\d+', '<ip>'],
  // kube-apiserver appends the nanoseconds of the present time.
  ['\\bselfType\\d*', 'selfType'],
]

/** How many scenarios may fail because a connection broke. */
const maxUnanswered = 20

/** Options of {@link compareServers}. */
export interface CompareOptions {
  readonly reference: Target
  readonly tested: Target
  readonly seed: string
  /** The number of requests to each server; the last scenario is completed. */
  readonly count: number
  /** The only kind of scenarios to generate. @default all kinds */
  readonly only?: string | undefined
  readonly onProgress?: (report: DifferentialReport) => void
}

/**
 * Sends the same random scenarios to two servers and compares the responses, with times, uids, versions and generated names replaced. After
 * the first difference, a scenario ends: later responses would differ because of it.
 */
export async function compareServers(options: CompareOptions): Promise<DifferentialReport> {
  using reference = new HttpClient(options.reference)
  using tested = new HttpClient(options.tested)
  const generator = new ScenarioGenerator()
  const report: DifferentialReport = {
    scenarios: 0,
    equalScenarios: 0,
    requests: 0,
    equalRequests: 0,
    byKind: new Map(),
    classes: new Map(),
  }
  // Names of an earlier run with the same seed may still exist on the servers.
  const run = Date.now().toString(36).slice(-5)
  let unanswered = 0
  while (report.requests < options.count) {
    const index = report.scenarios + unanswered
    report.scenarios++
    const scenario = generator.scenario(seededRandom(`${options.seed} ${index}`), `${run}-${index}`, options.only)
    const [requests, equal] = [report.requests, report.equalRequests]
    let found: Found | undefined
    try {
      found = await compareScenario(scenario, [reference, tested], report)
    } catch {
      // A connection failed, which says nothing about the responses. A server that stays unreachable ends the run.
      report.scenarios--
      if (++unanswered > maxUnanswered) throw new Error(`A server did not respond to ${unanswered} scenarios`)
      continue
    }
    const kind = /\bv\d/.test(scenario.kind) ? 'built-in objects' : scenario.kind
    const sum = report.byKind.get(kind) ?? { requests: 0, equal: 0 }
    sum.requests += report.requests - requests
    sum.equal += report.equalRequests - equal
    report.byKind.set(kind, sum)
    if (!found) report.equalScenarios++
    else note(report, scenario, found)
    if (report.scenarios % 100 === 0) options.onProgress?.(report)
  }
  return report
}

interface Found {
  readonly request: number
  readonly difference: Difference
}

async function compareScenario(
  scenario: Scenario,
  clients: readonly HttpClient[],
  report: DifferentialReport,
): Promise<Found | undefined> {
  const { namespace, requests, ready } = scenario
  const captured = clients.map(() => new Map<string, string>())
  const setup: RequestSpec[] = [
    { method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: namespace } } },
    {
      method: 'POST',
      path: `/api/v1/namespaces/${namespace}/serviceaccounts`,
      body: { metadata: { name: 'default' } },
    },
    ...(scenario.setup ?? []),
  ]
  const normalizers = clients.map(() => {
    const names = { serverHosts: [], webhookBase: 'https://no-webhook', caBundle: 'no-bundle', self: undefined }
    return new Normalizer(
      { id: '', title: '', steps: [], rv: 'loose', subs: replacedTexts },
      'no-unique-name',
      new Map(),
      names,
    )
  })
  for (const request of setup) {
    await Promise.all(
      clients.map(async (client, which) => capture((await client.request(request)).body, captured[which]!)),
    )
  }
  try {
    if (ready) await Promise.all(clients.map((client) => untilReady(client, ready)))
    for (const [i, request] of requests.entries()) {
      const [expected, actual] = await Promise.all(
        clients.map(async (client, which) => {
          const { status, headers, body } = await client.request({
            ...filled(request, captured[which]!),
            noRetry: true,
          })
          capture(body, captured[which]!)
          const normalizer = normalizers[which]!
          const warning = headers.warning?.map((text) => normalizer.text(text)).sort()
          const shown = { ...headers, ...(warning ? { warning } : {}) }
          const comparable = withoutRandomErrors(
            withoutVersions(normalizer.body(withParsedEvents(body), { unorderedErrors: true })),
          )
          return { status, headers: shown, body: comparable }
        }),
      )
      report.requests++
      const [difference] = differencesOf(withoutColumnTexts(expected), withoutColumnTexts(actual), 1)
      if (difference) return { request: i, difference: statusFirst(expected, actual, difference) }
      report.equalRequests++
    }
    return undefined
  } finally {
    await cleanUp(scenario, clients)
  }
}

async function untilReady(client: HttpClient, { request, status }: NonNullable<Scenario['ready']>): Promise<void> {
  // A scenario that never becomes ready, such as one with an invalid policy, is compared as it is.
  for (let attempt = 0; attempt < readyAttempts; attempt++) {
    if ((await client.request(request)).status === status) return
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

/** Remembers the metadata of a response that later requests may name. */
function capture(body: unknown, captured: Map<string, string>): void {
  const metadata = isJsonObject(body) ? body['metadata'] : undefined
  if (!isJsonObject(metadata)) return
  for (const [name, field] of placeholders) {
    if (typeof metadata[field] === 'string') captured.set(name, metadata[field])
  }
}

function filled(request: RequestSpec, captured: ReadonlyMap<string, string>): RequestSpec {
  const text = JSON.stringify(request)
  if (!/\{(uid|rv|continue)\}/.test(text)) return request
  const known = placeholders.reduce(
    (result, [name]) => result.replaceAll(`{${name}}`, captured.get(name) ?? 'none'),
    text,
  )
  return JSON.parse(known) as RequestSpec
}

/** A watch response with its events as values, whose members may be in any order. */
function withParsedEvents(body: unknown): unknown {
  if (!isJsonObject(body) || typeof body['$text'] !== 'string' || !body['$text'].startsWith('{"type":')) return body
  return { $events: body['$text'].trimEnd().split('\n').map(parsedEvent) }
}

function parsedEvent(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return line
  }
}

/** YAML is compared as text, in which the normalizer does not find resource versions, page tokens and the server's address. */
function withoutVersions(body: unknown): unknown {
  if (!isJsonObject(body) || typeof body['$text'] !== 'string') return body
  const text = body['$text']
    .replace(/(resourceVersion: )"\d+"/g, '$1<rv>')
    .replace(/^( {2}continue: )\S+$/gm, '$1<continue>')
    .replace(/(serverAddress: )127\.0\.0\.1:\d+/g, '$1<address>')
  return { $text: text }
}

/**
 * Go iterates over maps in random order, so that kube-apiserver itself reports different errors for the same request. It stops at the
 * first undeclared field of an applied configuration, of which only the beginning of the message is comparable, and at the first
 * value of a Secret that is not base64. The authorizer lists role bindings, and so the roles that it misses, in any order.
 */
function withoutRandomErrors(body: unknown): unknown {
  if (!isJsonObject(body)) return body
  const { message, status, details } = body
  if (isJsonObject(status) && typeof status['reason'] === 'string') {
    return { ...body, status: { ...status, reason: withSortedRoles(status['reason']) } }
  }
  if (typeof message !== 'string') return body
  const [begin] = /^failed to create typed patch object \(.*?\): /.exec(message) ?? []
  if (begin !== undefined) return { ...body, message: begin }
  if (!badBase64.test(message)) return body
  const causes =
    isJsonObject(details) && Array.isArray(details['causes']) ? (details['causes'] as unknown[]) : undefined
  const cleaned = causes?.map((cause) =>
    isJsonObject(cause) ? { ...cause, message: String(cause['message']).replace(badBase64, '$1') } : cause,
  )
  return {
    ...body,
    message: message.replace(badBase64, '$1'),
    ...(cleaned ? { details: { ...(details as object), causes: cleaned } } : {}),
  }
}

const badBase64 = /(error decoding from json: illegal base64 data) at input byte \d+/

function withSortedRoles(reason: string): string {
  return reason.replace(/(RBAC: \[)(.*)(\])$/, (_, open: string, list: string, close: string) =>
    [open, list.split(', ').sort().join(', '), close].join(''),
  )
}

interface Compared {
  readonly status: number
  readonly body: unknown
}

/** For responses with different statuses, the difference that matters is the status with its message. */
function statusFirst(expected: Compared | undefined, actual: Compared | undefined, difference: Difference): Difference {
  if (expected?.status === actual?.status) return difference
  const text = (one: Compared | undefined): string =>
    `${one?.status} ${(one?.body as { message?: string } | undefined)?.message ?? ''}`
  return { path: 'status', expected: text(expected), actual: text(actual) }
}

async function cleanUp({ namespace, created = [] }: Scenario, clients: readonly HttpClient[]): Promise<void> {
  const headers = { 'content-type': 'application/merge-patch+json' }
  const body = { metadata: { finalizers: null } }
  await Promise.all(
    clients.map(async (client) => {
      // Objects that stay would be part of later lists.
      for (const path of [...created, `/api/v1/namespaces/${namespace}`]) {
        await client.request({ method: 'DELETE', path }).catch(() => undefined)
        if (!path.startsWith('/api/v1/namespaces/') && !path.includes('customresourcedefinitions')) {
          await client.request({ method: 'PATCH', path, headers, body }).catch(() => undefined)
        }
      }
    }),
  )
}

function note(report: DifferentialReport, scenario: Scenario, { request, difference }: Found): void {
  const { method = 'GET' } = scenario.requests[request]!
  const name = `${scenario.kind} ${method} ${classOf(difference)}`
  const known = report.classes.get(name)
  if (known) known.count++
  else report.classes.set(name, { name, count: 1, scenario, request, difference })
}

/** The difference without the values that vary between scenarios. */
function classOf({ path, expected, actual }: Difference): string {
  const place = path.replace(/\[\d+\]/g, '[]').replace(/\['[^']*'\]/g, '[key]')
  if (path !== 'status' && !/message/.test(path)) return place
  const generic = (value: unknown): string =>
    String(value)
      .replace(/"(?:[^"\\]|\\.)*"/g, '"…"')
      .replace(/\d+/g, '0')
      .slice(0, 80)
  return `${place}: ${generic(expected)} → ${generic(actual)}`
}
