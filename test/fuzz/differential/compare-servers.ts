import { seededRandom } from '@kubewright/base'
import type { RequestSpec } from '../../conformance/case-format.ts'
import { type Difference, differencesOf, withoutColumnTexts } from '../../conformance/compare.ts'
import { HttpClient } from '../../conformance/http-client.ts'
import { Normalizer } from '../../conformance/normalizer.ts'
import { isRecord } from '../../conformance/object-path.ts'
import type { Target } from '../../conformance/target.ts'
import { type Scenario, ScenarioGenerator } from './generate-scenario.ts'

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
  readonly classes: Map<string, DifferenceClass>
}

/** How many scenarios may fail because a connection broke. */
const maxUnanswered = 20

/** Options of {@link compareServers}. */
export interface CompareOptions {
  readonly reference: Target
  readonly tested: Target
  readonly seed: string
  /** The number of requests to each server; the last scenario is completed. */
  readonly count: number
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
    classes: new Map(),
  }
  // Names of an earlier run with the same seed may still exist on the servers.
  const run = Date.now().toString(36).slice(-5)
  let unanswered = 0
  while (report.requests < options.count) {
    const index = report.scenarios + unanswered
    report.scenarios++
    const scenario = generator.scenario(seededRandom(`${options.seed} ${index}`), `${run}-${index}`)
    let found: Found | undefined
    try {
      found = await compareScenario(scenario, [reference, tested], report)
    } catch {
      // A connection failed, which says nothing about the responses. A server that stays unreachable ends the run.
      report.scenarios--
      if (++unanswered > maxUnanswered) throw new Error(`A server did not respond to ${unanswered} scenarios`)
      continue
    }
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
  const { namespace, requests } = scenario
  const setup: RequestSpec[] = [
    { method: 'POST', path: '/api/v1/namespaces', body: { metadata: { name: namespace } } },
    {
      method: 'POST',
      path: `/api/v1/namespaces/${namespace}/serviceaccounts`,
      body: { metadata: { name: 'default' } },
    },
  ]
  const normalizers = clients.map(() => {
    const names = { serverHosts: [], webhookBase: 'https://no-webhook', caBundle: 'no-bundle', self: undefined }
    return new Normalizer(
      { id: '', title: '', steps: [], rv: 'loose', subs: [['\\b10\\.0\\.0\\.\\d+', '<ip>']] },
      'no-unique-name',
      new Map(),
      names,
    )
  })
  for (const request of setup) await Promise.all(clients.map((client) => client.request(request)))
  try {
    for (const [i, request] of requests.entries()) {
      const [expected, actual] = await Promise.all(
        clients.map(async (client, which) => {
          const { status, headers, body } = await client.request({ ...request, noRetry: true })
          const normalizer = normalizers[which]!
          const warning = headers.warning?.map((text) => normalizer.text(text)).sort()
          const shown = { ...headers, ...(warning ? { warning } : {}) }
          const comparable = withoutRandomErrors(withoutVersions(normalizer.body(body, { unorderedErrors: true })))
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

/** YAML is compared as text, in which the normalizer does not find resource versions. */
function withoutVersions(body: unknown): unknown {
  if (!isRecord(body) || typeof body['$text'] !== 'string') return body
  return { $text: body['$text'].replace(/(resourceVersion: )"\d+"/g, '$1<rv>') }
}

/**
 * Go visits the fields of an applied configuration in random order and stops at the first undeclared field, so that kube-apiserver itself
 * reports different errors for the same configuration. Only the beginning of the message is comparable.
 */
function withoutRandomErrors(body: unknown): unknown {
  if (!isRecord(body) || typeof body['message'] !== 'string') return body
  const [begin] = /^failed to create typed patch object \(.*?\): /.exec(body['message']) ?? []
  return begin === undefined ? body : { ...body, message: begin }
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

async function cleanUp({ namespace, requests }: Scenario, clients: readonly HttpClient[]): Promise<void> {
  const [created] = requests
  const isClusterScoped = created && !created.path.includes('/namespaces/')
  const paths = [
    `/api/v1/namespaces/${namespace}`,
    ...(isClusterScoped ? [`${created.path}/o-${namespace.slice('diff-'.length)}`] : []),
  ]
  await Promise.all(
    clients.flatMap((client) => paths.map((path) => client.request({ method: 'DELETE', path }).catch(() => undefined))),
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
