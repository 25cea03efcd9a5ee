import type { Credentials, Impersonation } from '../rest/credentials.ts'
import type { TlsMaterial } from '../transport/http-dial.ts'

/** The settings of a connection to a server, resolved from a kubeconfig or a pod's environment. */
export interface ClientConfig {
  /** Where the configuration is from, for messages. */
  readonly source: string
  readonly server: string
  /** The default namespace. */
  readonly namespace: string
  /** The TLS material. Returns a different object when it has changed. */
  readonly tls?: (() => Promise<TlsMaterial>) | undefined
  readonly credentials?: Credentials | undefined
  readonly impersonate?: Impersonation | undefined
  readonly proxy?: string | undefined
  /** @default true */
  readonly compression?: boolean | undefined
}
