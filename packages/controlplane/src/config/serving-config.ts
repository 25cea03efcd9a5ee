import type { Duration } from '@kubewright/base'
import type { KeyedCertificate, ListenLimits } from '@kubewright/server'

/** How `serve` listens for clients. */
export interface ServingConfig {
  /** 0 picks a free port. @default 0 */
  readonly port?: number | undefined
  /** `0.0.0.0` and `::` are all addresses of this machine. @default '127.0.0.1' */
  readonly bindAddress?: string | undefined
  /** The endpoint of the service `kubernetes`. @default the bind address unless it is a loopback address */
  readonly advertiseAddress?: string | undefined
  /** The certificate for clients, followed by its intermediate CAs. @default one that the CA of the identity signs */
  readonly certificate?: KeyedCertificate | undefined
  /** What clients may use of connections. */
  readonly limits?: ListenLimits | undefined
  /** How long requests are served after the readiness check has failed. @default 0 */
  readonly shutdownDelay?: Duration | undefined
}
