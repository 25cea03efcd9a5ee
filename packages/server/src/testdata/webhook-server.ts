import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { CertificateAuthority } from '@kubewright/base/pki'
import type { Authorizer } from '../auth/authorizer.ts'
import { type LocalResponse, LocalServers } from '../outgoing/local-servers.ts'
import { systemOutgoing } from '../outgoing/outgoing.ts'
import { admissionPlugins } from '../plugins/admission-plugins.ts'
import type { RequestFilter } from '../request/request-filter.ts'
import { allBuiltins } from './all-builtins.ts'
import { type PlainAnswer, PlainServer } from './plain-server.ts'
import { pluginParts } from './plugin-parts.ts'

const extensible = ['MutatingAdmissionWebhook', 'ValidatingAdmissionPolicy', 'ValidatingAdmissionWebhook']

// biome-ignore lint/suspicious/noExplicitAny: tests look into reviews of every shape
type Json = any

/** Responds to a review: returns the response without its uid, or a complete HTTP response. */
export type Hook = (request: Json) => object | LocalResponse | Promise<object | LocalResponse>

/** A server with admission webhooks and policies. It calls webhooks in the same process or over HTTPS. */
export class WebhookServer implements AsyncDisposable {
  readonly plain: PlainServer
  /** All reviews in order, with their path. */
  readonly calls: { path: string; review: Json }[] = []
  /** By path, such as `/a`. */
  readonly hooks: Record<string, Hook> = {}
  /** Audit annotations of the last request. */
  audit: Record<string, string> = {}
  #base = 'https://hooks.example.com'
  #caBundle = ''
  #https: Server | undefined

  private constructor(plain: PlainServer) {
    this.plain = plain
  }

  static async start(transport: 'in-process' | 'https', authorizer?: Authorizer): Promise<WebhookServer> {
    const local = new LocalServers()
    let server: WebhookServer | undefined
    const plain = await PlainServer.start(allBuiltins, async (parts) => {
      const plugins = admissionPlugins(pluginParts(parts, { authorizer, outgoing: local.before(systemOutgoing) }))
      const keepAudit: RequestFilter = async (context, next) => {
        try {
          return await next()
        } finally {
          if (server) server.audit = Object.fromEntries(context.audit)
        }
      }
      return { admission: plugins.filter(({ name }) => extensible.includes(name)), filters: [keepAudit] }
    })
    server = new WebhookServer(plain)
    const hooks = server
    if (transport === 'https') await server.#listen()
    else
      for (const host of ['hooks.example.com', 'hooks.test.svc']) {
        local.serve(`${host}:443`, ({ path, body }) => hooks.#answer(path, Buffer.from(body)))
      }
    await server.send('POST /api/v1/namespaces', { metadata: { name: 'test', labels: { env: 'test' } } })
    return server
  }

  /** The client configuration of a hook. */
  config(path: string): object {
    return { url: this.#base + path, ...(this.#caBundle === '' ? {} : { caBundle: this.#caBundle }) }
  }

  /** Configures webhooks, by default for creates of ConfigMaps. A string stands for a hook at `/string`. */
  async configure(
    kind: 'Mutating' | 'Validating',
    name: string,
    ...webhooks: (string | { name: string; [field: string]: unknown })[]
  ): Promise<void> {
    const rule = { apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['CREATE'] }
    const body = {
      metadata: { name },
      webhooks: webhooks.map((webhook) => {
        const { name: path, ...rest } = typeof webhook === 'string' ? { name: webhook } : webhook
        return {
          name: `${path}.example.com`,
          clientConfig: this.config(`/${path}`),
          rules: [rule],
          admissionReviewVersions: ['v1'],
          sideEffects: 'None',
          ...rest,
        }
      }),
    }
    const plural = `${kind.toLowerCase()}webhookconfigurations`
    const answer = await this.send(`POST /apis/admissionregistration.k8s.io/v1/${plural}`, body)
    if (answer.status !== 201) throw new Error(answer.text)
  }

  /** Sends a request. Later requests see this write. */
  async send(line: string, body?: unknown, type = 'application/json'): Promise<PlainAnswer> {
    const headers = { 'content-type': type }
    const answer = await this.plain.send(line, { ...(body === undefined ? {} : { body }), headers })
    const { feed, store } = this.plain.server.parts.registry
    await feed.reached(await store.revision())
    return answer
  }

  /** Creates a ConfigMap in the namespace `test`. */
  create(name: string, more: object = {}): Promise<PlainAnswer> {
    return this.send('POST /api/v1/namespaces/test/configmaps', { metadata: { name }, ...more })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#https?.closeAllConnections()
    await new Promise((resolve) => (this.#https ? this.#https.close(resolve) : resolve(undefined)))
    await this.plain[Symbol.asyncDispose]()
  }

  async #listen(): Promise<void> {
    const now = Date.now()
    const ca = CertificateAuthority.create({ commonName: 'webhook-ca', now })
    const { cert, key } = new CertificateAuthority(ca).issueServing({ now, hosts: ['127.0.0.1'] })
    this.#caBundle = Buffer.from(ca.cert).toString('base64')
    this.#https = createServer({ cert, key }, (request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        void this.#answer(request.url ?? '', Buffer.concat(chunks)).then(({ status, headers, body }) => {
          response.writeHead(status, { 'content-type': 'application/json', ...(headers as Record<string, string[]>) })
          response.end(body)
        })
      })
    })
    await new Promise<void>((resolve) => this.#https!.listen(0, '127.0.0.1', resolve))
    this.#base = `https://127.0.0.1:${(this.#https.address() as AddressInfo).port}`
  }

  async #answer(path: string, body: Buffer): Promise<LocalResponse> {
    const review = JSON.parse(body.toString()) as Json
    this.calls.push({ path, review })
    const answer = await this.hooks[path.replace(/\?.*/, '')]?.(review.request)
    if (answer === undefined)
      return { status: 404, headers: { 'content-type': ['text/plain'] }, body: Buffer.from('no') }
    if ('body' in answer) return answer as LocalResponse
    const { kind, apiVersion } = review
    const response = { uid: review.request.uid, ...answer }
    return { status: 200, body: Buffer.from(JSON.stringify({ kind, apiVersion, response })) }
  }
}

/** An allowing response with a patch. */
export function patched(...operations: object[]): object {
  const patch = Buffer.from(JSON.stringify(operations)).toString('base64')
  return { allowed: true, patchType: 'JSONPatch', patch }
}

/** A complete HTTP response. */
export function answered(status: number, body: string, type = 'application/json'): LocalResponse {
  return { status, headers: { 'content-type': [type] }, body: Buffer.from(body) }
}
