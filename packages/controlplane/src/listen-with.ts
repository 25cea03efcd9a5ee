import { type ApiHandler, adminUser, listen, type ServerIdentity } from '@kubewright/server'
import { kubeconfigFor } from './kubeconfig-for.ts'

/** How a control plane is served. */
export interface ControlPlaneListenOptions {
  /** @default a free one */
  readonly port?: number | undefined
  /** Keys and certificates. @default those of the control plane */
  readonly identity?: ServerIdentity | undefined
  /** Further authorities, PEM, whose client certificates are trusted. */
  readonly clientCas?: readonly string[] | undefined
}

/** Where a control plane is served; disposing it ends that. */
export interface ControlPlaneAddress extends AsyncDisposable {
  readonly url: string
  readonly port: number
  /** The text of a kubeconfig for the administrator. */
  readonly kubeconfig: string
}

/** Serves a handler over HTTPS on the loopback address. */
export async function listenWith(
  handler: ApiHandler,
  options: ControlPlaneListenOptions & { readonly identity: ServerIdentity },
): Promise<ControlPlaneAddress> {
  const { port = 0, identity, clientCas = [] } = options
  const { ca, serving, admin } = identity
  const listener = await listen({
    handler,
    cert: serving.cert,
    key: serving.key,
    clientCas: [ca.cert, ...clientCas],
    port,
  })
  const url = `https://127.0.0.1:${listener.port}`
  return {
    url,
    port: listener.port,
    kubeconfig: kubeconfigFor({ server: url, ca: ca.cert, client: admin, user: adminUser }),
    [Symbol.asyncDispose]: () => listener[Symbol.asyncDispose](),
  }
}
