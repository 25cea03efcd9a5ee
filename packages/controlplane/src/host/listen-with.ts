import { type ApiHandler, adminUser, listen, type ServerIdentity } from '@kubewright/server'
import { kubeconfigFor } from '../identity/kubeconfig-for.ts'

/** Options of {@link listenWith}. */
export interface ControlPlaneListenOptions {
  /** @default a free port */
  readonly port?: number | undefined
  /** Keys and certificates. @default those of the control plane */
  readonly identity?: ServerIdentity | undefined
  /** Further CA certificates, as PEM, whose client certificates are trusted. */
  readonly clientCas?: readonly string[] | undefined
}

/** The address that a control plane listens on. Disposal closes the listener. */
export interface ControlPlaneAddress extends AsyncDisposable {
  readonly url: string
  readonly port: number
  /** A kubeconfig for the administrator, as YAML. */
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
