import { CaughtError, type Clock } from '@kubewright/base'
import type { Outgoing, OutgoingResponse } from '../outgoing/outgoing.ts'
import type { ServiceResolver } from '../outgoing/service-resolver.ts'
import type { UserInfo } from '../request/user-info.ts'
import type { RemoteApiService } from './api-service-condition.ts'
import { type FrontProxyIdentity, remoteUserHeaders } from './front-proxy.ts'

/** Options of {@link ExtensionServers}. */
export interface ExtensionServersOptions {
  readonly outgoing: Outgoing
  readonly resolveService: ServiceResolver
  readonly clock: Clock
  /** Without it, extension servers do not trust the user headers. */
  readonly frontProxy?: FrontProxyIdentity | undefined
}

/** A request to an extension server on behalf of a user. */
export interface ExtensionRequest {
  readonly method: string
  /** Path and query, sent unchanged. */
  readonly target: string
  readonly user: UserInfo
  readonly headers?: Readonly<Record<string, string | readonly string[]>> | undefined
  readonly body?: Uint8Array | undefined
  readonly signal: AbortSignal
  /** Whether the headers ask for a protocol upgrade. @default false */
  readonly upgrade?: boolean | undefined
  /** Whether to verify the server's certificate. @default as the APIService specifies */
  readonly verify?: boolean | undefined
}

/** The user of the aggregator's own requests. */
export const aggregatorUser: UserInfo = { name: 'system:kube-aggregator', groups: ['system:masters'] }

/** The service or its endpoints do not exist; no request was sent. */
export class UnresolvedService extends CaughtError {
  override readonly name = 'UnresolvedService'
}

/** Sends requests to extension servers. */
export class ExtensionServers {
  readonly #options: ExtensionServersOptions

  constructor(options: ExtensionServersOptions) {
    this.#options = options
  }

  get clock(): Clock {
    return this.#options.clock
  }

  /** The URL of the extension server of an APIService. Rejects with {@link UnresolvedService}. */
  async locate({ spec }: RemoteApiService): Promise<URL> {
    const { namespace, name, port = 443 } = spec.service
    try {
      const found = await this.#options.resolveService(namespace, name, port)
      const host = found.host.includes(':') ? `[${found.host}]` : found.host
      return new URL(`https://${host}:${found.port}`)
    } catch (error) {
      throw new UnresolvedService((error as Error).message, { cause: error })
    }
  }

  async send(service: RemoteApiService, request: ExtensionRequest): Promise<OutgoingResponse> {
    const { spec } = service
    const { frontProxy, outgoing } = this.#options
    const url = await this.locate(service)
    const verify = request.verify ?? spec.insecureSkipTLSVerify !== true
    const response = await outgoing({
      method: request.method,
      url,
      target: request.target,
      headers: { ...request.headers, ...remoteUserHeaders(request.user) },
      body: request.body,
      upgrade: request.upgrade,
      tls: {
        insecure: !verify,
        serverName: `${spec.service.name}.${spec.service.namespace}.svc`,
        ...(verify && spec.caBundle ? { ca: Buffer.from(spec.caBundle, 'base64').toString() } : {}),
        ...(frontProxy ? { cert: frontProxy.client.cert, key: frontProxy.client.key } : {}),
      },
      signal: request.signal,
    })
    return response
  }
}
