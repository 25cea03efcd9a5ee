import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import { isJsonObject } from '@kubewright/base'
import { CertificateAuthority } from '@kubewright/server'
import type { Edit, WebhookAnswer, WebhookSpec } from './case-format.ts'
import { sameJson } from './compare.ts'
import { removeAt, setAt, valueAt } from './object-path.ts'

/** A call that a webhook received. */
export interface WebhookCall {
  readonly method: string
  readonly path: string
  readonly query: string
  readonly contentType: string | null
  readonly body: unknown
}

interface Hook {
  readonly spec: WebhookSpec
  readonly calls: WebhookCall[]
}

/** Serves the webhooks of all running cases on one HTTPS port of this machine. */
export class WebhookHost implements AsyncDisposable {
  readonly base: string
  /** The CA as base64-encoded PEM, for webhook configurations. */
  readonly caBundle: string
  readonly #server: Server
  readonly #hooks: Map<string, Hook>

  private constructor(server: Server, base: string, caBundle: string, hooks: Map<string, Hook>) {
    this.#server = server
    this.base = base
    this.caBundle = caBundle
    this.#hooks = hooks
  }

  static async start(): Promise<WebhookHost> {
    const now = Date.now()
    const ca = CertificateAuthority.create({ commonName: 'conformance-webhook-ca', now })
    const hooks = new Map<string, Hook>()
    const server = createServer(new CertificateAuthority(ca).issueServing({ now }), (request, response) => {
      void answer(hooks, request, response).catch(() => response.destroy())
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as { port: number }
    return new WebhookHost(server, `https://127.0.0.1:${port}`, Buffer.from(ca.cert).toString('base64'), hooks)
  }

  set(name: string, spec: WebhookSpec): void {
    this.#hooks.set(name, { spec, calls: [] })
  }

  remove(name: string): void {
    this.#hooks.delete(name)
  }

  callsOf(name: string): WebhookCall[] {
    return this.#hooks.get(name)?.calls ?? []
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.#server.closeAllConnections()
    await closed
  }
}

async function answer(hooks: Map<string, Hook>, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const url = new URL(request.url ?? '/', 'https://webhook')
  const hook = hooks.get(url.pathname.slice(1))
  const body = parsed(Buffer.concat(chunks).toString())
  const send = (status: number, content: unknown, type = 'application/json'): void => {
    response.writeHead(status, { 'content-type': type })
    response.end(typeof content === 'string' ? content : JSON.stringify(content))
  }
  if (!hook) return send(404, 'no such hook')
  const review = isJsonObject(body) ? body : {}
  const received = isJsonObject(review['request']) ? review['request'] : {}
  // Ignore the objects that a controller manager creates in every new namespace.
  if (received['name'] === 'kube-root-ca.crt')
    return send(200, { ...review, request: undefined, response: { uid: received['uid'], allowed: true } })
  hook.calls.push({
    method: request.method ?? '',
    path: url.pathname,
    query: url.search.slice(1),
    contentType: request.headers['content-type'] ?? null,
    body,
  })
  const rule = hook.spec.rules?.find(({ when }) => matches(when ?? {}, body))
  const wanted = rule?.respond ?? hook.spec.respond ?? {}
  if (wanted.delayMs) await new Promise((resolve) => setTimeout(resolve, wanted.delayMs))
  if (wanted.destroy) return void request.socket.destroy()
  if (wanted.rawBody !== undefined) return send(wanted.httpStatus ?? 200, wanted.rawBody, wanted.contentType)
  const isConversion = review['kind'] === 'ConversionReview' || hook.spec.type === 'conversion'
  send(wanted.httpStatus ?? 200, {
    apiVersion: wanted.apiVersion ?? review['apiVersion'] ?? 'admission.k8s.io/v1',
    kind: wanted.kind ?? (isConversion ? 'ConversionReview' : (review['kind'] ?? 'AdmissionReview')),
    response: isConversion ? conversion(received, wanted, hook.spec) : admission(received, wanted),
  })
}

function admission(received: Record<string, unknown>, wanted: WebhookAnswer): Record<string, unknown> {
  const { patch, patchRaw, patchType } = wanted
  const response: Record<string, unknown> = { uid: wanted.uid ?? received['uid'], allowed: wanted.allowed ?? true }
  const patchText = patchRaw ?? (patch === undefined ? undefined : JSON.stringify(patch))
  if (patchText !== undefined) {
    response['patch'] = Buffer.from(patchText).toString('base64')
    if (patchType !== null) response['patchType'] = patchType ?? 'JSONPatch'
  }
  for (const name of ['status', 'warnings', 'auditAnnotations'] as const)
    if (wanted[name] !== undefined) response[name] = wanted[name]
  return response
}

function conversion(
  received: Record<string, unknown>,
  wanted: WebhookAnswer,
  spec: WebhookSpec,
): Record<string, unknown> {
  const result = wanted.result ?? { status: 'Success' }
  const response: Record<string, unknown> = { uid: wanted.uid ?? received['uid'], result }
  if (result.status !== 'Success' && !wanted.convertAnyway) return replaced(response, wanted)
  const objects = ((received['objects'] ?? []) as Record<string, unknown>[]).map((object) =>
    converted(object, String(received['desiredAPIVersion']), wanted.convert ?? spec.convert ?? {}),
  )
  if (wanted.dropOne) objects.pop()
  for (const object of objects) for (const edit of wanted.after ?? []) apply(object, edit)
  return replaced({ ...response, convertedObjects: objects }, wanted)
}

function replaced(response: Record<string, unknown>, { replace = {} }: WebhookAnswer): Record<string, unknown> {
  const members = Object.entries({ ...response, ...replace }).filter(([, value]) => value !== '$absent')
  return Object.fromEntries(members)
}

function converted(
  object: Record<string, unknown>,
  desired: string,
  edits: NonNullable<WebhookSpec['convert']>,
): Record<string, unknown> {
  const result = structuredClone(object)
  const version = (apiVersion: unknown): string => String(apiVersion).split('/').at(-1)!
  for (const edit of edits[`${version(object['apiVersion'])}->${version(desired)}`] ?? []) apply(result, edit)
  return { ...result, apiVersion: desired }
}

function apply(object: unknown, edit: Edit): void {
  if (edit.set) setAt(object, edit.set[0], edit.set[1])
  else if (edit.delete !== undefined) removeAt(object, edit.delete)
  else if (edit.move) {
    const value = valueAt(object, edit.move[0])
    if (value === undefined) return
    removeAt(object, edit.move[0])
    setAt(object, edit.move[1], value)
  }
}

/** Whether every path of `when` has its expected value. */
export function matches(when: Readonly<Record<string, unknown>>, body: unknown): boolean {
  return Object.entries(when).every(([path, want]) => {
    const value = valueAt(body, path)
    if (isJsonObject(want) && '$exists' in want) return (value !== undefined) === want['$exists']
    if (isJsonObject(want) && '$length' in want) return Array.isArray(value) && value.length === want['$length']
    if (isJsonObject(want) && '$gte' in want) return Number(value) >= Number(want['$gte'])
    return sameJson(value, want)
  })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return { $text: text }
  }
}
