import { createHash } from 'node:crypto'
import { isJsonObject } from '@kubewright/base'
import type { Case, Condition, Reduction, RequestSpec, Step } from './case-format.ts'
import {
  brief,
  CaseFailure,
  type Difference,
  differencesOf,
  sorted,
  withoutColumnTexts,
  withoutSchemaTexts,
} from './compare.ts'
import { expand } from './expand.ts'
import type { Answer, HttpClient } from './http-client.ts'
import { Normalizer, type RunNames } from './normalizer.ts'
import { valueAt } from './object-path.ts'
import { runWatch } from './run-watch.ts'
import { matches, type WebhookCall, type WebhookHost } from './webhook-host.ts'

/** The parts that all cases of a run share. */
export interface RunParts {
  readonly client: HttpClient
  readonly webhooks: WebhookHost
  readonly names: RunNames
  readonly runId: string
  /** The capabilities of the server: `kcm` or `no-kcm`, `client-ca`, `webhook`. */
  readonly capabilities: ReadonlySet<string>
  /** Receives the response of each step instead of the comparison, to record it. */
  readonly record?: ((step: Step, actual: unknown) => void) | undefined
}

const crdPath = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
/** The kinds that a POST returns without creating an object. */
const notStored = /Review$|^Eviction$|^Binding$|^TokenRequest$|^Scale$|^Status$/
const pause = (millis: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, millis))
const listOf = <T>(value: T | readonly T[] | undefined): readonly T[] =>
  value === undefined ? [] : Array.isArray(value) ? value : [value as T]

/** Runs one case. */
export class CaseRunner {
  readonly #case: Case
  readonly #parts: RunParts
  readonly #unique: string
  readonly #captured = new Map<string, string>()
  readonly #normalizer: Normalizer
  readonly #created: { readonly path: string; readonly kind: string }[] = []

  constructor(test: Case, parts: RunParts) {
    this.#case = test
    this.#parts = parts
    const digest = createHash('sha256').update(`${parts.runId}/${test.id}`).digest()
    this.#unique = `u${digest.readBigUInt64BE().toString(36).padStart(13, '0').slice(-9)}`
    this.#normalizer = new Normalizer(test, this.#unique, this.#captured, parts.names)
  }

  /** Rejects with a {@link CaseFailure} at the first step with a difference. Always cleans up. */
  async run(): Promise<void> {
    const { steps, webhooks = {} } = this.#case
    for (const [name, spec] of Object.entries(webhooks)) this.#parts.webhooks.set(this.#hook(name), this.#expand(spec))
    try {
      if (this.#case.ns ?? /\$\{ns\}/.test(JSON.stringify([steps, webhooks]))) await this.#createNamespace()
      for (const [i, step] of steps.entries()) await this.#step(step, `step ${i + 1}`)
    } finally {
      for (const name of Object.keys(webhooks)) this.#parts.webhooks.remove(this.#hook(name))
      // Objects that cannot be deleted do no harm, because names are unique.
      await this.#cleanUp().catch(() => undefined)
    }
  }

  #names(): ReadonlyMap<string, string> {
    const { webhooks } = this.#parts
    return new Map([
      ['u', this.#unique],
      ['ns', `ns-${this.#unique}`],
      ['group', `${this.#unique}.example.com`],
      ['caBundle', webhooks.caBundle],
      ['webhook', `${webhooks.base}/${this.#unique}`],
      ...this.#captured,
    ])
  }

  #expand<T>(value: T): T {
    return expand(value, this.#names())
  }

  #hook(name: string): string {
    return `${this.#unique}/${name}`
  }

  async #createNamespace(): Promise<void> {
    const name = `ns-${this.#unique}`
    await this.#create('/api/v1/namespaces', { apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
    if (!this.#case.sa) return
    const account = { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default' } }
    await this.#create(`/api/v1/namespaces/${name}/serviceaccounts`, account)
  }

  async #create(
    path: string,
    body: { readonly apiVersion: string; readonly kind: string; readonly metadata: { readonly name: string } },
  ): Promise<void> {
    const { status, body: answer } = await this.#parts.client.request({ method: 'POST', path, body })
    // A controller may have created the service account already.
    if (status !== 201 && !(status === 409 && body.kind === 'ServiceAccount'))
      throw failure(`setup: create ${body.kind}: status`, 201, status, messageOf(answer))
    this.#created.push({ path: `${path}/${body.metadata.name}`, kind: body.kind })
  }

  async #step(step: Step, label: string): Promise<void> {
    if (step.sleepMs !== undefined) return pause(step.sleepMs)
    if (step.crd) return this.#crd(step.crd, label)
    if (step.wait) return this.#wait(step, step.wait, label)
    if (step.calls !== undefined) return this.#calls(step, step.calls, label)
    if (step.clearCalls !== undefined) return this.#clear(step.clearCalls)
    if (step.watch !== undefined) return this.#watch(step, step.watch, label)
    return this.#request(step, label)
  }

  async #request(step: Step, label: string): Promise<void> {
    const request = this.#requestOf(step, step.path ?? '')
    const what = `${step.method ?? 'GET'} ${step.path ?? ''}`
    const answer = await this.#parts.client.request(request).catch((error: unknown) => {
      throw failure(`${label}: ${what}: request`, 'a response', String(error))
    })
    this.#track(request, answer)
    const cacheSync = this.#case.cacheSync ?? this.#case.webhooks !== undefined
    if (cacheSync && answer.status >= 200 && answer.status < 300) await this.#waitForCaches(request, answer)
    const note = `${what} -> ${answer.status} ${messageOf(answer.body)}`
    for (const [name, path] of Object.entries(step.capture ?? {})) {
      const value = valueAt(answer.body, this.#expand(path))
      if (value === undefined) throw failure(`${label}: ${path}`, '(a value to capture)', undefined, note)
      this.#captured.set(name.replace(/^\$/, ''), typeof value === 'string' ? value : JSON.stringify(value))
    }
    for (const [path, pattern] of Object.entries(step.match ?? {})) {
      const value = valueAt(answer.body, this.#expand(path))
      if (typeof value !== 'string' || !new RegExp(this.#expand(pattern)).test(value))
        throw failure(`${label}: ${path}`, `match of ${pattern}`, value)
    }
    if (step.setup) {
      const wanted = listOf(step.status ?? [200, 201, 202])
      if (!wanted.includes(answer.status)) throw failure(`${label}: setup ${what}: status`, wanted, answer.status, note)
      return
    }
    const headers = { ...answer.headers }
    if (headers.warning) headers.warning = headers.warning.map((text) => this.#normalizer.text(text))
    const body = step.statusOnly ? {} : { body: this.#normalizer.body(answer.body, this.#reduction(step)) }
    this.#compare(step, label, { status: answer.status, headers, ...body }, what)
  }

  #requestOf(
    { method, query, headers, body, as, auth, noRetry, timeoutMs }: Partial<RequestSpec>,
    path: string,
  ): RequestSpec {
    const given = Object.entries({ method, query, headers, body, as, auth }).filter(([, value]) => value !== undefined)
    return {
      ...this.#expand({ path, ...(Object.fromEntries(given) as Partial<RequestSpec>) }),
      ...(noRetry === undefined ? {} : { noRetry }),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    }
  }

  #reduction(step: Step): Reduction {
    const unorderedErrors = step.unorderedErrors ?? this.#case.unorderedErrors
    return {
      ignore: this.#expand([...(this.#case.ignore ?? []), ...(step.ignore ?? [])]),
      ...(step.pick ? { pick: this.#expand(step.pick) } : {}),
      ...(step.pickErrors === undefined ? {} : { pickErrors: step.pickErrors }),
      ...(unorderedErrors === undefined ? {} : { unorderedErrors }),
    }
  }

  #compare(step: Step, label: string, actual: unknown, note?: string): void {
    if (this.#parts.record) {
      this.#parts.record(step, actual)
      return
    }
    const comparable = (value: unknown): unknown => withoutSchemaTexts(withoutColumnTexts(value))
    const found = differencesOf(comparable(step.expect ?? {}), comparable(actual))
    if (found.length === 0) return
    throw new CaseFailure(
      found.map((one, i): Difference => {
        const located = { ...one, path: `${label}: ${one.path}` }
        return i === 0 && note !== undefined ? { ...located, note } : located
      }),
    )
  }

  /** Records the object that a request created, to delete it at the end. */
  #track({ method = 'GET', path, query }: RequestSpec, { status, body }: Answer): void {
    const made = (method === 'POST' && status >= 200 && status <= 202) || (status === 201 && method !== 'GET')
    if (!made || !isJsonObject(body) || query?.['dryRun'] || /[?&]dryRun=/.test(path)) return
    const name = valueAt(body, 'metadata.name')
    const kind = String(body['kind'] ?? '')
    if (typeof name !== 'string' || name === '' || notStored.test(kind)) return
    const base = path.split('?')[0]!
    const full = method === 'POST' ? `${base}/${name}` : base
    if (!this.#created.some((known) => known.path === full)) this.#created.push({ path: full, kind })
  }

  /**
   * Reads at least as new as the last write. Otherwise the server could try a following patch on a stale object first,
   * which would call webhooks and collect warnings twice.
   */
  async #waitForCaches({ method, path, query }: RequestSpec, { body }: Answer): Promise<void> {
    const version = valueAt(body, 'metadata.resourceVersion')
    const name = valueAt(body, 'metadata.name')
    if (!['POST', 'PUT', 'PATCH'].includes(method ?? '') || query?.['dryRun']) return
    if (typeof version !== 'string' || !/^\d+$/.test(version) || typeof name !== 'string') return
    const base = path.split('?')[0]!.replace(/\/(status|scale)$/, '')
    const read = { path: method === 'POST' ? `${base}/${name}` : base, query: { resourceVersion: version } }
    await this.#parts.client.requestAll(read).catch(() => undefined)
  }

  async #crd(template: NonNullable<Step['crd']>, label: string): Promise<void> {
    const { client } = this.#parts
    const crd = this.#expand(template)
    const { status, body } = await client.request({ method: 'POST', path: crdPath, body: crd })
    if (status !== 201) throw failure(`${label}: create CRD: status`, 201, status, messageOf(body))
    const path = `${crdPath}/${crd.metadata.name}`
    this.#created.push({ path, kind: 'CustomResourceDefinition' })
    const ready = {
      'status.conditions[type=Established].status': 'True',
      'status.conditions[type=NamesAccepted].status': 'True',
    }
    await this.#poll({ path }, (answer) => matches(ready, answer.body), {
      label: `${label}: CRD conditions`,
      limit: 20_000,
    })
    for (const { name, served } of crd.spec.versions ?? []) {
      if (!served) continue
      const list = { path: `/apis/${crd.spec.group}/${name}/${crd.spec.names.plural}?limit=1` }
      await this.#poll(list, (answer) => answer.status === 200, {
        label: `${label}: CRD endpoint ${name}`,
        limit: 20_000,
      })
    }
  }

  async #poll(
    request: RequestSpec,
    done: (answer: Answer) => boolean,
    { label, limit, every = 40 }: { label: string; limit: number; every?: number },
  ): Promise<void> {
    const end = Date.now() + limit
    for (;;) {
      // Another server on the same store may see a change later.
      const answers = await this.#parts.client.requestAll(request)
      for (const each of answers) this.#track(request, each)
      const answer = answers.find((each) => !done(each))
      if (!answer) return
      if (Date.now() > end)
        throw failure(label, 'reached', `${answer.status} ${messageOf(answer.body) || brief(answer.body)}`)
      await pause(every)
    }
  }

  async #wait(step: Step, wait: 'calls' | RequestSpec, label: string): Promise<void> {
    const until = this.#expand(isJsonObject(step.until) ? (step.until as Condition) : {})
    const { everyMs: every = 50, timeoutMs: limit = 30_000 } = step
    const { webhooks } = this.#parts
    const callsOf = (hook: string | undefined): number => webhooks.callsOf(this.#hook(hook ?? '')).length
    const what = `${label}: wait for ${JSON.stringify(step.until)}`
    if (wait === 'calls') {
      const end = Date.now() + limit
      while (callsOf(until.hook) < (until.count ?? 0)) {
        if (Date.now() > end) throw failure(what, 'reached', 'not reached')
        await pause(every)
      }
    } else {
      const done = ({ status, body }: Answer): boolean =>
        (until.status === undefined || listOf(until.status).includes(status)) &&
        (until.called === undefined || callsOf(until.called) > 0) &&
        (until.messageIncludes === undefined || messageOf(body).includes(until.messageIncludes)) &&
        matches(until.body ?? {}, body)
      await this.#poll(this.#requestOf(wait, wait.path), done, { label: what, limit, every })
    }
    if (until.stable !== undefined) await pause(until.stable)
    this.#clear(step.thenClear ?? [])
  }

  #clear(hooks: string | readonly string[]): void {
    for (const name of listOf<string>(hooks)) this.#parts.webhooks.callsOf(this.#hook(name)).length = 0
  }

  #calls(step: Step, hook: string, label: string): void {
    const got = this.#parts.webhooks.callsOf(this.#hook(hook)).splice(0)
    const kept =
      step.unique === undefined ? got : uniqueCalls(got, step.unique === true ? {} : this.#expand(step.unique))
    const reduction = this.#reduction({
      ...(step.ignore ? { ignore: step.ignore } : {}),
      ...(step.pick ? { pick: step.pick } : {}),
    })
    const calls = kept.map(({ method, path, query, contentType, body }) => ({
      method,
      path: this.#normalizer.text(path),
      ...(query === '' ? {} : { query }),
      contentType,
      body: this.#normalizer.body(body, reduction),
    }))
    // Normalize also when only the number is compared, so that the uids get their placeholders.
    this.#compare(step, label, step.countOnly ? { count: calls.length } : { calls })
  }

  async #watch(step: Step, path: string, label: string): Promise<void> {
    const { timeoutMs: _limit, ...rest } = step
    const actual = await runWatch(step, {
      client: this.#parts.client,
      request: { ...this.#requestOf(rest, path), method: 'GET' },
      normalizer: this.#normalizer,
      reduction: this.#reduction(step),
      run: (during, number) => this.#step(during, `${label}.${number}`),
    })
    this.#compare(step, label, actual)
  }

  /**
   * Deletes the objects of the case, newest first; before them, admission configurations that could reject the
   * deletions.
   */
  async #cleanUp(): Promise<void> {
    const { client, capabilities } = this.#parts
    const first = ({ path }: { path: string }): number =>
      /webhookconfigurations|validatingadmissionpolic|mutatingadmissionpolic/.test(path) ? 0 : 1
    for (const { path, kind } of this.#created.reverse().sort((a, b) => first(a) - first(b))) {
      if (kind === 'Namespace') {
        await client.request({ method: 'DELETE', path })
        // With controllers, the namespace is emptied and finalized automatically.
        if (capabilities.has('kcm')) continue
        const empty = { apiVersion: 'v1', kind, metadata: { name: path.split('/').at(-1) }, spec: { finalizers: [] } }
        await client.request({ method: 'PUT', path: `${path}/finalize`, body: empty })
        continue
      }
      const query = { gracePeriodSeconds: '0', propagationPolicy: 'Background' }
      const { status, body } = await client.request({ method: 'DELETE', path, query })
      if (status === 404 || status === 405 || kind === 'CustomResourceDefinition') continue
      const finalizers = valueAt(body, 'metadata.finalizers')
      if (!Array.isArray(finalizers) || finalizers.length === 0) continue
      const headers = { 'content-type': 'application/merge-patch+json' }
      await client.request({ method: 'PATCH', path, headers, body: { metadata: { finalizers: null } } })
    }
  }
}

/** The distinct calls of concurrent callers, in a fixed order, without the uids of the requests. */
function uniqueCalls(calls: readonly WebhookCall[], when: Readonly<Record<string, unknown>>): WebhookCall[] {
  const byText = new Map<string, WebhookCall>()
  for (const call of calls) {
    const body = structuredClone(call.body)
    if (isJsonObject(body) && isJsonObject(body['request'])) delete body['request']['uid']
    if (matches(when, body)) byText.set(JSON.stringify(sorted(body)), { ...call, body })
  }
  return [...byText.keys()].sort().map((text) => byText.get(text)!)
}

function failure(path: string, expected: unknown, actual: unknown, note?: string): CaseFailure {
  return new CaseFailure([{ path, expected, actual, ...(note ? { note } : {}) }])
}

function messageOf(body: unknown): string {
  return isJsonObject(body) && body['kind'] === 'Status' ? String(body['message'] ?? '') : ''
}
