import type { Logger } from '@kubewright/base'
import type { HttpHandler } from './http-handler.ts'

/** A certificate and its key, PEM. */
export interface ServingCertificate {
  readonly cert: string
  readonly key: string
}

/** Where a server's certificate comes from; it may change while the server runs. */
export interface CertificateSource {
  current(): ServingCertificate
  /** Is called after each change. */
  onChange(listener: () => void): Disposable
}

/** What a listener is asked to do. */
export interface ListenOptions {
  /** For messages: such as `metrics`. */
  readonly name: string
  /** The address to bind; empty for all. */
  readonly host: string
  /** 0 has the system pick one. */
  readonly port: number
  readonly handler: HttpHandler
  /** Serves HTTPS when given. */
  readonly certificate?: CertificateSource | undefined
  /** Also offers HTTP/2; only with a certificate. @default false */
  readonly http2?: boolean | undefined
  readonly log: Logger
}

/** A server in operation. Disposing it lets open requests end, and closes idle connections at once. */
export interface Listening extends AsyncDisposable {
  readonly port: number
}

/** Opens servers: on sockets in production, in memory in tests and simulations. */
export interface HttpListener {
  /** Rejects when the address cannot be had, naming the cure. */
  listen(options: ListenOptions): Promise<Listening>
}
