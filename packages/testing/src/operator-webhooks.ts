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

/** What {@link serveOperatorWebhooks} takes. */
export interface ServeOperatorWebhooksOptions {
  readonly controlPlane: ControlPlane
  /** Of somebody who may register webhooks. */
  readonly admin: ApiClient
  /** Of the webhooks: one that always asks the API server. */
  readonly client: ApiClient
  readonly transport: 'in-process' | 'https'
  readonly clock: Clock
  readonly log: Logger
}

// Nobody resolves it: the control plane knows who is meant.
const host = 'webhooks.kubewright.test'

/** Has the control plane ask an operator's webhooks and conversions, by calls or over HTTPS, until disposed. */
export async function serveOperatorWebhooks(
  operator: Operator,
  options: ServeOperatorWebhooksOptions,
): Promise<AsyncDisposable> {
  const { controlPlane, admin, client, clock, log, transport } = options
  const { webhooks, conversions } = operator
  const handler = createWebhookHandler({ webhooks, conversions, client, clock, log })
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
