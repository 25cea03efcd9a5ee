import { AsyncDisposer, type Clock, type Logger } from '@kubewright/base'
import { CertificateAuthority } from '@kubewright/base/pki'
import type { ApiClient } from '@kubewright/client'
import type { ControlPlane } from '@kubewright/controlplane'
import {
  certificateSource,
  createWebhookHandler,
  type Operator,
  registerLocally,
  serveWebhooks,
} from '@kubewright/runtime'

/** Options of {@link serveOperatorWebhooks}. */
export interface ServeOperatorWebhooksOptions {
  readonly controlPlane: ControlPlane
  /** A client that may register webhooks. */
  readonly admin: ApiClient
  /** The client that webhooks use. It reads from the API server, not from a cache. */
  readonly client: ApiClient
  readonly transport: 'in-process' | 'https'
  readonly clock: Clock
  readonly log: Logger
  /** Called when a webhook starts and ends. */
  readonly running: (change: 1 | -1) => void
}

// The host name is never resolved: the control plane routes it to the local server.
const host = 'webhooks.kubewright.test'

/** Connects the control plane to an operator's webhooks and conversions, in process or over HTTPS, until disposed. */
export async function serveOperatorWebhooks(
  operator: Operator,
  options: ServeOperatorWebhooksOptions,
): Promise<AsyncDisposable> {
  const { controlPlane, admin, client, clock, log, transport } = options
  const { webhooks, conversions } = operator
  const handle = createWebhookHandler({ webhooks, conversions, client, clock, log })
  const handler: typeof handle = (request) => {
    options.running(1)
    return handle(request).finally(() => options.running(-1))
  }
  const disposer = new AsyncDisposer()
  try {
    if (transport === 'in-process') {
      disposer.use(controlPlane.localServers.serve(`${host}:443`, handler))
      disposer.use(await registerLocally(operator, { client: admin, url: `https://${host}`, caBundle: '', log }))
    } else {
      const now = clock.now()
      const authority = CertificateAuthority.create({ commonName: 'webhooks of a test', now })
      const certificate = certificateSource(
        new CertificateAuthority(authority).issueServing({ now, hosts: ['127.0.0.1'] }),
      )
      const { port } = disposer.use(await serveWebhooks({ handler, certificate, port: 0, host: '127.0.0.1', log }))
      const url = `https://127.0.0.1:${port}`
      disposer.use(await registerLocally(operator, { client: admin, url, caBundle: authority.cert, log }))
    }
    return disposer
  } catch (error) {
    await disposer[Symbol.asyncDispose]()
    throw error
  }
}
