import { seededRandom } from '@kubewright/base'
import { type Difference, differencesOf } from '../../conformance/compare.ts'
import { HttpClient } from '../../conformance/http-client.ts'
import { valueAt } from '../../conformance/object-path.ts'
import type { Target } from '../../conformance/target.ts'
import { WebhookHost } from '../../conformance/webhook-host.ts'
import { ScenarioGenerator } from './generate-scenario.ts'
import type { Scenario } from './scenario.ts'
import { type ComparedClient, ScenarioSide } from './scenario-side.ts'

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

/** The time in milliseconds to wait for events, and how often to wait for them while one server has sent fewer. */
const settleMillis = 150
const eventAttempts = 20

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
  await using host = await WebhookHost.start()
  const clients = [await comparedClient('reference', reference), await comparedClient('tested', tested)]
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
      found = await compareScenario(scenario, clients, host, report)
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

async function comparedClient(name: string, client: HttpClient): Promise<ComparedClient> {
  const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
  const { body } = await client.request({ method: 'POST', path, body: {} })
  return { name, client, self: valueAt(body, 'status.userInfo') }
}

interface Found {
  readonly request: number
  readonly difference: Difference
}

async function compareScenario(
  scenario: Scenario,
  clients: readonly ComparedClient[],
  host: WebhookHost,
  report: DifferentialReport,
): Promise<Found | undefined> {
  const sides = clients.map((client) => new ScenarioSide(client, scenario, host))
  try {
    await Promise.all(sides.map((side) => side.prepare()))
    for (const [i, request] of scenario.requests.entries()) {
      const [expected, actual] = await Promise.all(sides.map((side) => side.response(request)))
      report.requests++
      const [difference] = differencesOf(expected, actual, 1)
      if (difference) return { request: i, difference: statusFirst(expected, actual, difference) }
      report.equalRequests++
    }
    const difference = await sideEffectDifference(scenario, sides)
    return difference && { request: scenario.requests.length - 1, difference }
  } finally {
    await Promise.all(sides.map((side) => side.cleanUp()))
    for (const side of sides) side[Symbol.dispose]()
  }
}

/** The first difference between what the webhooks and the watches have received. */
async function sideEffectDifference(
  scenario: Scenario,
  sides: readonly ScenarioSide[],
): Promise<Difference | undefined> {
  if (scenario.watches) await untilEqualCounts(sides)
  const [expected, actual] = sides.map((side) => ({ calls: side.calls(), watches: side.received() }))
  return differencesOf(expected, actual, 1)[0]
}

/** Waits until the watches of both servers have received as many events, and as long again for surplus ones. */
async function untilEqualCounts([reference, tested]: readonly ScenarioSide[]): Promise<void> {
  const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, settleMillis))
  await pause()
  for (let attempt = 0; attempt < eventAttempts && reference!.eventCount !== tested!.eventCount; attempt++)
    await pause()
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
