// Sends random requests of three users to a real server and checks every response.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { seededRandom } from '@kubewright/base'
import { CertificateAuthority } from '@kubewright/base/pki'
import { targetOfKubeconfig } from '../../conformance/target.ts'
import { ConversionHook } from '../../kubectl/conversion-hook.ts'
import { Requests } from '../../up/requests.ts'
import { TemporaryFolder } from '../../up/up-process.ts'
import { accessOf } from './access-of.ts'
import { cleanUp } from './clean-up.ts'
import { problemOf } from './expected-errors.ts'
import { type Credentials, FuzzClient } from './fuzz-client.ts'
import type { FuzzRequest, FuzzResponse } from './fuzz-request.ts'
import { RequestGenerator } from './generate-request.ts'
import { MeasuredServer, type ServerMemory } from './measured-server.ts'
import { recordedRequests } from './recorded-requests.ts'
import { servedResources } from './served-resources.ts'
import { createWorld, lowUser, markerForms } from './world.ts'

/** Options of {@link fuzzRequests}. */
export interface FuzzRequestsOptions {
  readonly seed: string
  readonly count: number
  /** Requests to send before the random ones. */
  readonly first?: readonly FuzzRequest[]
  /** The CPU time in milliseconds that a request of up to 100 KB may take. @default unlimited */
  readonly maxCpuMillis?: number
  /** Flags of `kubewright up`. */
  readonly flags?: readonly string[]
  readonly onProgress?: (report: FuzzRequestsReport) => void
}

/** A wrong response, or a request that took too long. */
export interface RequestFailure {
  readonly problem: string
  readonly request: FuzzRequest
  readonly response: string
}

/** The result so far. */
export interface FuzzRequestsReport {
  sent: number
  readonly statuses: Map<number, number>
  readonly failures: RequestFailure[]
  /** The number of responses whose access was compared with an access review. */
  reviewed: number
  /** An upper bound of the CPU time of one request: the largest CPU time during a group of concurrent requests. */
  largestGroupMillis: number
  /** The largest CPU time of a request that was sent alone, and the request. */
  largestMillis: number
  largest?: FuzzRequest
  readonly memory: { readonly sent: number; readonly memory: ServerMemory }[]
}

const roundSize = 20_000
const maxFailures = 20
/** Groups that take longer are sent again, one request after the other. */
const slowGroupMillis = 250
/** The longest wait for a group; slower requests are checked when they end. */
const groupWaitMillis = 200

/** Rights that the user with a Role must never have. */
const forbiddenRights: readonly Readonly<Record<string, string>>[] = [
  { verb: 'list', resource: 'secrets' },
  { verb: 'get', resource: 'secrets', namespace: 'other' },
  { verb: 'get', resource: 'secrets', namespace: 'low', name: 'hidden' },
  { verb: 'list', resource: 'secrets', namespace: 'low' },
  { verb: 'get', resource: 'configmaps', namespace: 'other' },
  { verb: 'create', resource: 'pods', namespace: 'low', subresource: 'exec' },
  { verb: 'escalate', group: 'rbac.authorization.k8s.io', resource: 'roles', namespace: 'low' },
  { verb: 'impersonate', resource: 'users' },
]

/** Runs the fuzzer until the count is reached or too many failures were found. */
export async function fuzzRequests(options: FuzzRequestsOptions): Promise<FuzzRequestsReport> {
  using folder = new TemporaryFolder()
  const now = Date.now()
  const authority = CertificateAuthority.create({ commonName: 'fuzz', now })
  const low = new CertificateAuthority(authority).issueClient({
    ...{ commonName: lowUser, organizations: ['fuzzers'], now, validMillis: 24 * 3_600_000 },
  })
  const caFile = join(folder.path, 'client-ca.pem')
  writeFileSync(caFile, authority.cert)
  await using hook = await ConversionHook.start((object, apiVersion) => ({ ...object, apiVersion }))
  const flags = options.flags ?? ['--memory', '--controllers', 'none']
  await using server = await MeasuredServer.start([...flags, '--client-ca', caFile], folder.path)
  const target = targetOfKubeconfig(server.kubeconfig)
  using admin = new Requests(server.kubeconfig)
  const credentials: Credentials = { anonymous: {}, low, admin: target.client ?? {} }
  using client = new FuzzClient(target.server, target.ca ?? '', credentials)
  await createWorld(admin, hook)
  const generator = new RequestGenerator(
    seededRandom(options.seed),
    recordedRequests('low'),
    await servedResources(admin),
  )
  const run = new Run(options, { server, admin, client, hook })
  for (const request of options.first ?? []) await run.group([request])
  const sizes = seededRandom(`${options.seed} sizes`)
  while (run.wantsMore()) {
    const size = Math.min(sizes.pick([1, 16, 32, 64]), options.count - run.report.sent)
    await run.group(Array.from({ length: size }, () => generator.next()))
    if (run.isRoundComplete()) await run.endRound()
  }
  await run.end()
  return run.report
}

interface Parts {
  readonly server: MeasuredServer
  readonly admin: Requests
  readonly client: FuzzClient
  readonly hook: ConversionHook
}

class Run {
  readonly report: FuzzRequestsReport = {
    ...{ sent: 0, statuses: new Map(), failures: [], reviewed: 0, largestGroupMillis: 0, largestMillis: 0, memory: [] },
  }
  readonly #options: FuzzRequestsOptions
  readonly #parts: Parts
  readonly #pending = new Set<Promise<void>>()
  readonly #known = new Set<string>()
  #roundEnd = roundSize

  constructor(options: FuzzRequestsOptions, parts: Parts) {
    this.#options = options
    this.#parts = parts
  }

  wantsMore(): boolean {
    const { sent, failures } = this.report
    return sent < this.#options.count && failures.length < maxFailures && this.#parts.server.exit === undefined
  }

  isRoundComplete(): boolean {
    return this.report.sent >= this.#roundEnd
  }

  /** Sends requests at the same time. */
  async group(requests: readonly FuzzRequest[]): Promise<void> {
    const { server } = this.#parts
    const before = server.cpuMillis()
    const all = requests.map((request) => this.#send(request))
    for (const one of all) {
      const pending = one.finally(() => this.#pending.delete(pending))
      this.#pending.add(pending)
    }
    await withinMillis(Promise.all(all), groupWaitMillis)
    const used = (server.cpuMillis() ?? 0) - (before ?? 0)
    this.report.largestGroupMillis = Math.max(this.report.largestGroupMillis, used)
    if (requests.length === 1) this.#measured(requests[0]!, used)
    else if (used > slowGroupMillis) await this.#findSlow(requests)
  }

  /** Removes what the requests created, restores the world, and checks what must always hold. */
  async endRound(): Promise<void> {
    this.#roundEnd += roundSize
    await Promise.all(this.#pending)
    const { server, admin, hook } = this.#parts
    await cleanUp(admin)
    await createWorld(admin, hook)
    await this.#checkServer()
    this.report.memory.push({ sent: this.report.sent, memory: await server.memory() })
    this.#options.onProgress?.(this.report)
  }

  async end(): Promise<void> {
    if (this.#parts.server.exit === undefined) await this.endRound()
    else this.#fail(`the server ended with ${this.#parts.server.exit}`, idle, this.#parts.server.takeNotes().join('\n'))
  }

  async #checkServer(): Promise<void> {
    const { server, admin, client } = this.#parts
    for (const line of server.takeNotes())
      if (line.includes('Request failed')) this.#fail('logged a failure', idle, line)
    const ready = await admin.send('GET', '/readyz')
    if (ready.text !== 'ok') this.#fail('not ready', idle, ready.text)
    for (const resourceAttributes of forbiddenRights) {
      const isAllowed = await isAllowedFor(client, admin, { ...idle, user: 'low' }, { resourceAttributes })
      if (isAllowed !== false) this.#fail(`${lowUser} may ${JSON.stringify(resourceAttributes)}`, idle, '')
    }
  }

  async #send(request: FuzzRequest): Promise<void> {
    this.report.sent++
    const response = await this.#parts.client.send(request)
    const { status, body } = response
    this.report.statuses.set(status, (this.report.statuses.get(status) ?? 0) + 1)
    const problem = problemOf(request, response)
    if (problem !== undefined)
      this.#fail(problem, request, `${status} ${response.error ?? body.toString().slice(0, 500)}`)
    if (request.user === 'admin' && request.headers['impersonate-user'] === undefined) return
    if (request.user !== 'admin' && containsMarker(body))
      this.#fail('leaked a secret', request, body.toString().slice(0, 500))
    if (status >= 200 && status < 300 && request.user !== 'admin') await this.#review(request, response)
  }

  /** Compares a successful response with the access review of the same user. */
  async #review(request: FuzzRequest, { status }: FuzzResponse): Promise<void> {
    // A part of the reads suffices; writes and streams are all reviewed.
    if (request.method === 'GET' && request.drop !== true && this.report.sent % 5 !== 0) return
    const access = accessOf(request)
    if (access === undefined) return
    this.report.reviewed++
    const { client, admin, hook } = this.#parts
    if (await isAllowedFor(client, admin, request, access)) return
    // The user may have changed its own Role since: decide with the original rights.
    await createWorld(admin, hook)
    if (await isAllowedFor(client, admin, request, access)) return
    this.#fail('served a request that its user may not make', request, `${status} ${JSON.stringify(access)}`)
  }

  async #findSlow(requests: readonly FuzzRequest[]): Promise<void> {
    await Promise.all(this.#pending)
    for (const request of requests) await this.group([request])
  }

  #measured(request: FuzzRequest, millis: number): void {
    if (millis > this.report.largestMillis) {
      this.report.largestMillis = millis
      this.report.largest = request
    }
    const limit = this.#options.maxCpuMillis
    if (limit !== undefined && millis > limit) this.#fail(`took ${Math.round(millis)} ms of CPU time`, request, '')
  }

  #fail(problem: string, request: FuzzRequest, response: string): void {
    // One failure of each kind: the same defect shows in many responses.
    const key = `${problem.replace(/\d+/g, 'N')} ${response.replace(/"uid":"[^"]*"|[0-9a-f]{6,}|\d+/g, '').slice(0, 150)}`
    if (this.#known.has(key)) return
    this.#known.add(key)
    this.report.failures.push({ problem, request, response })
  }
}

const idle: FuzzRequest = { user: 'admin', protocol: 'http1', method: 'GET', path: '/', headers: {} }

function containsMarker(body: Buffer): boolean {
  return markerForms.some((form) => body.includes(form))
}

/** Asks the server whether the user of a request has access. Undefined when the server gives no answer. */
async function isAllowedFor(
  client: FuzzClient,
  admin: Requests,
  request: FuzzRequest,
  access: object,
): Promise<boolean | undefined> {
  const root = '/apis/authorization.k8s.io/v1'
  if (request.user === 'anonymous') {
    // Anonymous clients may not create reviews of their own.
    const spec = { user: 'system:anonymous', groups: ['system:unauthenticated'], ...access }
    return (await admin.send('POST', `${root}/subjectaccessreviews`, { spec })).body?.status?.allowed as
      | boolean
      | undefined
  }
  const { body } = await client.send({
    user: request.user,
    protocol: 'http1',
    method: 'POST',
    path: `${root}/selfsubjectaccessreviews`,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ spec: access }),
  })
  const review = JSON.parse(body.toString()) as { status?: { allowed?: boolean } }
  return review.status?.allowed
}

async function withinMillis(promise: Promise<unknown>, millis: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise((resolve) => (timer = setTimeout(resolve, millis)))
  await Promise.race([promise, late])
  clearTimeout(timer)
}
