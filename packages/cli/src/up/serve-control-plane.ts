import { readFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { AsyncDisposer, type Clock, isKubewrightError, type Logger, toMillis, UsageError } from '@kubewright/base'
import { type ControlPlane, chooseControllers, kubeconfigFor, startControlPlane } from '@kubewright/controlplane'
import {
  AuthorizationChain,
  adminUser,
  createFrontProxyIdentity,
  JwtAuthentication,
  listen,
  TokenWebhook,
} from '@kubewright/server'
import type { Store } from '@kubewright/storage'
import type { CommandContext } from '../command/command-context.ts'
import { type AuditLogOptions, admissionChoice } from './api-server-options.ts'
import type { AuthenticationOptions } from './authentication-options.ts'
import type { AuthorizationOptions } from './authorization-options.ts'
import { followFile } from './follow-file.ts'
import { freeKubeconfig } from './free-kubeconfig.ts'
import { identityOf, openBackend } from './open-backend.ts'
import type { PlaneOptions } from './plane-options.ts'
import { writePrivateFile } from './private-file.ts'
import { RotatingFile } from './rotating-file.ts'
import { exposure, serverAddresses, urlOf } from './server-addresses.ts'
import { withFolder } from './with-folder.ts'

/** Milliseconds that requests in progress have to finish on a stop. */
const drainTimeout = 10_000
const defaultAddress = { bindAddress: '127.0.0.1', clusterIpRange: '10.0.0.0/24' }

/** A control plane that is served over HTTPS, with its kubeconfig. Disposing it stops the server and closes the store. */
export interface ServedControlPlane extends AsyncDisposable {
  readonly plane: ControlPlane
  readonly store: Store
  readonly url: string
  /** What other machines can reach, one line each. Empty for a server on a loopback address. */
  readonly exposure: readonly string[]
  /** The absolute path of the kubeconfig. */
  readonly kubeconfig: string
  /** The names of the running controllers. */
  readonly controllers: readonly string[]
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

/** Starts a control plane, serves it on the loopback address or the bind address, and writes the kubeconfig. */
export async function serveControlPlane(
  options: PlaneOptions,
  context: CommandContext,
  log: Logger,
): Promise<ServedControlPlane> {
  const { clock } = context
  const controllers = await chosenControllers(options.controllers)
  const { apiServer } = options
  const admission = apiServer?.admission ?? admissionChoice(options.admissionPlugins ?? [], [])
  const addresses = serverAddresses(apiServer ?? defaultAddress)
  const disposer = new AsyncDisposer()
  try {
    const clientCa = options.clientCa === undefined ? undefined : await certificateIn(options.clientCa)
    // The store first: its lock also prevents two servers from generating keys in the same folder.
    const store = disposer.use(await openBackend(options.backend, options.historyBytes, context))
    const identity = await identityOf(options.backend, clock.now(), addresses.certified)
    const { serving, serviceAccounts } = apiServer?.certificates ?? {}
    // A certificate of another CA: clients get its chain as further trusted certificates.
    const rootCa = serving ? `${identity.ca.cert.trimEnd()}\n${serving.cert}` : identity.ca.cert
    const clientCas = [identity.ca.cert, ...(clientCa === undefined ? [] : [clientCa])]
    const { token, limits } = options
    let port = options.port
    const audit = apiServer?.audit && auditSink(apiServer.audit, context, disposer)
    const jwt = apiServer?.authentication && jwtAuthentication(apiServer.authentication, { clock, log }, disposer)
    const chain = apiServer?.authorizers && authorizationChain(apiServer.authorizers, { clock, log }, disposer)
    const plane = disposer.use(
      await startControlPlane({
        store,
        clock,
        log,
        controllers,
        levers: options.levers,
        identity,
        rootCa,
        // With heartbeats, because a kube-controller-manager may monitor the nodes.
        nodes: options.nodes > 0 ? { nodes: options.nodes, heartbeat: '10s' } : 0,
        scheduler: apiServer?.scheduler,
        tokens: [
          ...(token === undefined ? [] : [{ token, user: { name: adminUser, groups: ['system:masters'] } }]),
          ...(apiServer?.tokens ?? []),
        ],
        server: {
          history: historyOf(options),
          kubelets: apiServer?.kubelets,
          admissionPlugins: admission.enabled,
          disabledAdmissionPlugins: admission.disabled,
          encryption: apiServer?.encryption,
          serves: apiServer?.serves,
          serviceRanges: { clusterIpRange: (apiServer ?? defaultAddress).clusterIpRange },
          builtins: {
            body: limits.body,
            ...(limits.listObjects === undefined ? {} : { list: { objects: limits.listObjects } }),
            watchesPerUser: limits.watchesPerUser,
            ...(apiServer ? { inFlight: apiServer.inFlight, flowControl: apiServer.flowControl } : {}),
            ...(apiServer?.audit && audit ? { audit: { policy: apiServer.audit.policy, sink: audit } } : {}),
            port: options.port,
            clientCa: clientCas.join('\n'),
            frontProxy: createFrontProxyIdentity(clock.now(), identity.frontProxyCa),
          },
          access: {
            serviceAccounts: {
              keys: [serviceAccounts?.signingKey ?? identity.serviceAccountKey, ...(serviceAccounts?.keys ?? [])],
              ...(serviceAccounts?.issuer === undefined ? {} : { issuer: serviceAccounts.issuer }),
            },
            externalAddress: () => urlOf(addresses.advertised ?? addresses.local, port).slice('https://'.length),
            ...(apiServer ? { anonymous: apiServer.anonymous, authorization: chain ?? apiServer.authorization } : {}),
            jwt,
            tokenWebhook: apiServer?.tokenWebhook && new TokenWebhook({ ...apiServer.tokenWebhook, clock, log }),
            ...(apiServer?.bootstrapTokens === false ? { bootstrapTokens: false } : {}),
          },
        },
      }),
    )
    let requests = 0
    const listener = disposer.use(
      await listen({
        handler: (request) => {
          requests++
          return plane.server.handler(request)
        },
        ...(serving ?? identity.serving),
        clientCas,
        host: (apiServer ?? defaultAddress).bindAddress,
        port,
        drainTimeout,
        limits: { headerBytes: limits.headerBytes, streamsPerConnection: limits.streamsPerConnection },
      }),
    )
    port = listener.port
    const presence = disposer.use(
      await plane.server.announce({ hostname: hostname(), port, address: addresses.advertised }),
    )
    const url = urlOf(addresses.local, port)
    const kubeconfig = await freeKubeconfig(options.kubeconfig, port, context)
    const access = kubeconfigFor({ server: url, ca: rootCa, client: identity.admin, user: adminUser })
    await withFolder(
      {
        purpose: 'write the kubeconfig to',
        path: kubeconfig,
        fix: 'choose another file with --kubeconfig FILE',
      },
      () => writePrivateFile(kubeconfig, access),
    )
    return {
      plane,
      store,
      url,
      exposure: apiServer ? exposure(addresses, port, { ...apiServer, hasToken: token !== undefined }) : [],
      kubeconfig,
      controllers: plane.controllers.names,
      requests: () => requests,
      onStop: (resource) => void disposer.use(resource),
      drain: async () => {
        plane.server.drain()
        const delay = toMillis(options.shutdownDelay ?? 0)
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

function historyOf({ backend, historyBytes }: PlaneOptions): { bytes: number; age?: number; revisions?: number } {
  if (backend.kind !== 'etcd') return { bytes: historyBytes }
  const age = toMillis(backend.compaction ?? '5m')
  // History in etcd takes none of this server's memory, so its age alone decides.
  return { bytes: historyBytes, age: age === 0 ? Number.POSITIVE_INFINITY : age, revisions: Number.POSITIVE_INFINITY }
}

/** The controllers that `--controllers` selects. Throws a UsageError for an unknown name. */
async function chosenControllers(choice: PlaneOptions['controllers']): Promise<PlaneOptions['controllers']> {
  try {
    return await chooseControllers(choice)
  } catch (error) {
    // The message begins with the name of the option, which is that of the flag.
    if (isKubewrightError(error, 'KW_CONTROLLER_UNKNOWN')) throw new UsageError(`--${error.message}`)
    throw error
  }
}

/** Starts to authenticate ID tokens, and follows the file that describes their issuers. */
function jwtAuthentication(
  { jwt, algorithms, file }: AuthenticationOptions,
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
  disposer: AsyncDisposer,
): JwtAuthentication {
  const authentication = new JwtAuthentication(jwt, { algorithms, clock, log })
  const stop = async (): Promise<void> => authentication[Symbol.dispose]()
  if (!file) {
    disposer.defer(stop)
    return authentication
  }
  const changed = async (text: string): Promise<'done' | 'retry'> => {
    let next: AuthenticationOptions['jwt']
    try {
      next = file.parse(text)
    } catch (error) {
      log.error(error, 'Ignored a change of the authentication configuration: it is not valid', { file: file.path })
      return 'done'
    }
    try {
      await authentication.update(next)
    } catch (error) {
      log.error(error, 'Could not apply the new authentication configuration; retrying', { file: file.path })
      return 'retry'
    }
    log.info('Reloaded the authentication configuration', { file: file.path })
    return 'done'
  }
  disposer.use(followFile(file.path, file.text, changed, { clock, log }))
  // Runs before the disposal of the follower, which waits for an update in progress.
  disposer.defer(stop)
  return authentication
}

/** Creates the chain of authorizers, and follows the file that describes it. */
function authorizationChain(
  { authorizers, connect, file }: AuthorizationOptions,
  { clock, log }: { readonly clock: Clock; readonly log: Logger },
  disposer: AsyncDisposer,
): AuthorizationChain {
  const chain = new AuthorizationChain(authorizers, { connect, clock, log })
  if (!file) return chain
  const changed = async (text: string): Promise<'done'> => {
    try {
      chain.update(await file.parse(text))
      log.info('Reloaded the authorization configuration', { file: file.path })
    } catch (error) {
      log.error(error, 'Ignored a change of the authorization configuration: it is not valid', { file: file.path })
    }
    return 'done'
  }
  disposer.use(followFile(file.path, file.text, changed, { clock, log }))
  return chain
}

/** Opens the audit log. Events to the standard output are lines of it. */
function auditSink(
  { path, limits }: AuditLogOptions,
  { clock, out }: CommandContext,
  disposer: AsyncDisposer,
): (line: string) => void {
  if (path === '-') return out
  const file = new RotatingFile(path, limits, clock)
  disposer.defer(async () => file[Symbol.dispose]())
  return (line) => file.write(line)
}

async function certificateIn(file: string): Promise<string> {
  const text = await readFile(file, 'utf8')
  if (!text.includes('-----BEGIN CERTIFICATE-----'))
    throw new UsageError(`--client-ca and --client-ca-file must be a file with PEM certificates: ${file} contains none`)
  return text
}
