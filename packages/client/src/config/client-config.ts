import type { Credentials, Impersonation } from '../rest/credentials.ts'
import type { TlsMaterial } from '../transport/http-dial.ts'

/** Everything that is needed to talk to a server: what a kubeconfig, or a pod's environment, comes down to. */
export interface ClientConfig {
  /** Where it is from, for messages. */
  readonly source: string
  readonly server: string
  /** The namespace of whatever names none. */
  readonly namespace: string
  /** Certificates: another object as soon as they changed. */
  readonly tls?: (() => Promise<TlsMaterial>) | undefined
  readonly credentials?: Credentials | undefined
  readonly impersonate?: Impersonation | undefined
  readonly proxy?: string | undefined
  /** @default true */
  readonly compression?: boolean | undefined
}
