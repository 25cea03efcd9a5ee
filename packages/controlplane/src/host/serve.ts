import { hostname } from 'node:os'
import { join } from 'node:path'
import { AsyncDisposer, toMillis } from '@kubewright/base'
import {
  adminUser,
  createFrontProxyIdentity,
  createServerIdentity,
  listen,
  type ServerIdentity,
} from '@kubewright/server'
import { chooseControllers } from '../components/choose-controllers.ts'
import { type CompletedConfig, completed } from '../config/completed-config.ts'
import type { PlaneConfig } from '../config/plane-config.ts'
import { serverAddresses, urlOf } from '../config/server-addresses.ts'
import { isStoreConfig } from '../config/store-config.ts'
import { identityIn } from '../identity/identity-folder.ts'
import { kubeconfigFor } from '../identity/kubeconfig-for.ts'
import type { ControlPlane } from './control-plane.ts'
import { withFolder } from './folder-error.ts'
import { openStore } from './open-store.ts'
import { startIn } from './start-control-plane.ts'

/** A control plane that listens for clients. Disposing it stops the server and closes the store that it has opened. */
export interface ServedPlane extends AsyncDisposable {
  readonly plane: ControlPlane
  readonly port: number
  /** The URL for clients on this machine. */
  readonly url: string
  /** The URLs at which other machines can connect. Empty for a server on a loopback address. */
  readonly exposed: readonly string[]
  /** A kubeconfig for the administrator, as YAML. */
  readonly kubeconfig: string
  /** The number of requests so far, without those of its own controllers. */
  readonly requests: () => number
  /** Disposes a resource before the control plane stops. */
  onStop(resource: AsyncDisposable): void
  /**
   * Prepares the stop: the readiness check fails, other servers on the same store take over, and requests are served for the shutdown delay.
   * Disposal then lets requests in progress finish.
   */
  drain(): Promise<void>
}

/** Milliseconds that requests in progress have to finish on a stop. */
const drainTimeout = 10_000
/** The folder of the identity of a server on etcd, in the current folder. */
const sharedIdentityFolder = '.kubewright/pki'

/** Starts a control plane and listens for clients, as `serving` describes. */
export async function serve(config: PlaneConfig): Promise<ServedPlane> {
  // Before anything is opened: an unknown name is rejected.
  const controllers = await chooseControllers(config.controllers ?? 'all')
  const complete = completed({ ...config, controllers })
  const { clock, access, serving = {} } = complete
  const addresses = serverAddresses(complete)
  const disposer = new AsyncDisposer()
  try {
    // The store first: its lock also prevents two servers from generating keys in the same folder.
    const store = await openStore(complete, disposer)
    const identity = await identityOf(complete, addresses.certified)
    // A certificate of another CA: clients get its chain as further trusted certificates.
    const { certificate } = serving
    const rootCa = certificate ? `${identity.ca.cert.trimEnd()}\n${certificate.cert}` : identity.ca.cert
    const clientCas = [identity.ca.cert, ...(access?.clientCas ?? [])]
    let port = serving.port ?? 0
    const surroundings = {
      store,
      rootCa,
      externalAddress: () => urlOf(addresses.advertised ?? addresses.local, port).slice('https://'.length),
      published: {
        port,
        clientCa: clientCas.join('\n'),
        frontProxy: createFrontProxyIdentity(clock.now(), identity.frontProxyCa),
      },
    }
    const plane = disposer.use(await startIn(surroundings, { ...complete, identity }))
    let requests = 0
    const listener = disposer.use(
      await listen({
        handler: (request) => {
          requests++
          return plane.server.handler(request)
        },
        ...(certificate ?? identity.serving),
        clientCas,
        host: addresses.bind,
        port,
        drainTimeout,
        ...(serving.limits ? { limits: serving.limits } : {}),
      }),
    )
    port = listener.port
    const presence = disposer.use(
      await plane.server.announce({ hostname: hostname(), port, address: addresses.advertised }),
    )
    const url = urlOf(addresses.local, port)
    return {
      plane,
      port,
      url,
      exposed: addresses.exposed.map((ip) => urlOf(ip, port)),
      kubeconfig: kubeconfigFor({ server: url, ca: rootCa, client: identity.admin, user: adminUser }),
      requests: () => requests,
      onStop: (resource) => void disposer.use(resource),
      drain: async () => {
        plane.server.drain()
        const delay = toMillis(serving.shutdownDelay ?? 0)
        await Promise.all([
          presence[Symbol.asyncDispose](),
          plane.controllers[Symbol.asyncDispose](),
          ...(delay > 0 ? [clock.sleep(delay)] : []),
        ])
      },
      [Symbol.asyncDispose]: () => disposer[Symbol.asyncDispose](),
    }
  } catch (error) {
    await disposer[Symbol.asyncDispose]()
    throw error
  }
}

/**
 * The identity of the server; its certificate is valid for the hosts. Unless objects are in memory, it is kept, so that clients still trust
 * the server after a restart.
 */
async function identityOf(
  { identity, store, clock }: CompletedConfig,
  hosts: readonly string[],
): Promise<ServerIdentity> {
  if (identity) return identity
  const now = clock.now()
  if (store !== undefined && isStoreConfig(store)) {
    if (store.kind === 'durable')
      return withFolder('objects', store.folder, () => identityIn(join(store.folder, 'pki'), now, hosts))
    if (store.kind === 'etcd')
      return withFolder('keys', sharedIdentityFolder, () => identityIn(sharedIdentityFolder, now, hosts))
  }
  return createServerIdentity(now, hosts)
}
