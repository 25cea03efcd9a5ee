import type { Logger } from '@kubewright/base'
import type { HttpHandler } from './http-handler.ts'

/** A certificate and its key, both PEM. */
export interface ServingCertificate {
  readonly cert: string
  readonly key: string
}

/** Provides the certificate of a server. It may change while the server runs. */
export interface CertificateSource {
  current(): ServingCertificate
  /** Registers a listener that is called after each change. */
  onChange(listener: () => void): Disposable
}

/** Options of {@link HttpListener.listen}. */
export interface ListenOptions {
  /** The name of the server in messages, such as `metrics`. */
  readonly name: string
  /** The address to bind; empty for all interfaces. */
  readonly host: string
  /** 0 lets the operating system choose one. */
  readonly port: number
  readonly handler: HttpHandler
  /** Enables HTTPS. */
  readonly certificate?: CertificateSource | undefined
  /** Whether to offer HTTP/2 too; requires a certificate. @default false */
  readonly http2?: boolean | undefined
  readonly log: Logger
}

/** A running server. Disposing it waits for open requests and closes idle connections at once. */
export interface Listening extends AsyncDisposable {
  readonly port: number
}

/** Opens HTTP servers: on sockets in production, in memory in tests and simulations. */
export interface HttpListener {
  /** Rejects when the address cannot be bound; the message names the fix. */
  listen(options: ListenOptions): Promise<Listening>
}
