import { readFile } from 'node:fs/promises'
import { type AsyncDisposer, type Clock, type Logger, toMillis, UsageError } from '@kubewright/base'
import { type ControlPlane, type ControlPlaneOptions, startControlPlane } from '@kubewright/controlplane'
import {
  AuthorizationChain,
  adminUser,
  createFrontProxyIdentity,
  JwtAuthentication,
  type ListenOptions,
  type ServerIdentity,
  TokenWebhook,
} from '@kubewright/server'
import type { Store } from '@kubewright/storage'
import { admissionChoice } from './api-server-options.ts'
import type { AuthenticationOptions } from './authentication-options.ts'
import type { AuthorizationOptions } from './authorization-options.ts'
import { followConfig } from './follow-config.ts'
import type { PlaneOptions } from './plane-options.ts'
import { type ServerAddresses, urlOf } from './server-addresses.ts'

/** Milliseconds that requests in progress have to finish on a stop. */
export const drainTimeout = 10_000
export const defaultAddress = { bindAddress: '127.0.0.1', clusterIpRange: '10.0.0.0/24' }

/** The parts of a control plane that are the same in the main process and in its workers. */
export interface PlaneParts {
  readonly store: Store
  readonly identity: ServerIdentity
  readonly addresses: ServerAddresses
  /** The port of the server. It is known when the server listens. */
  readonly port: () => number
  /** Where audit events go, if there is an audit log. */
  readonly audit: ((line: string) => void) | undefined
  readonly clock: Clock
  readonly log: Logger
  /** Ends what the parts start. */
  readonly disposer: AsyncDisposer
}

/** A control plane and the options of the listener in front of it. */
export interface AssembledPlane {
  readonly plane: ControlPlane
  /** The certificates with which clients verify the server. */
  readonly rootCa: string
  readonly listening: Omit<ListenOptions, 'handler' | 'port' | 'route'>
}

/** Starts the control plane that the options describe. `differences` are those of a worker. */
export async function assemblePlane(
  options: PlaneOptions,
  parts: PlaneParts,
  differences: Pick<ControlPlaneOptions, 'controllers' | 'nodes' | 'connector' | 'leaderElection'> & {
    readonly server?: Pick<NonNullable<ControlPlaneOptions['server']>, 'components' | 'isWorker' | 'historyFrom'>
  },
): Promise<AssembledPlane> {
  const { store, identity, addresses, audit, clock, log, disposer } = parts
  const { apiServer, token, limits } = options
  const admission = apiServer?.admission ?? admissionChoice(options.admissionPlugins ?? [], [])
  const clientCa = options.clientCa === undefined ? undefined : await certificateIn(options.clientCa)
  const { serving, serviceAccounts } = apiServer?.certificates ?? {}
  // A certificate of another CA: clients get its chain as further trusted certificates.
  const rootCa = serving ? `${identity.ca.cert.trimEnd()}\n${serving.cert}` : identity.ca.cert
  const clientCas = [identity.ca.cert, ...(clientCa === undefined ? [] : [clientCa])]
  const jwt = apiServer?.authentication && jwtAuthentication(apiServer.authentication, { clock, log }, disposer)
  const chain = apiServer?.authorizers && authorizationChain(apiServer.authorizers, { clock, log }, disposer)
  const plane = disposer.use(
    await startControlPlane({
      store,
      clock,
      log,
      controllers: options.controllers,
      levers: options.levers,
      identity,
      rootCa,
      // With heartbeats, because a kube-controller-manager may monitor the nodes.
      nodes: options.nodes > 0 ? { nodes: options.nodes, heartbeat: '10s' } : 0,
      scheduler: apiServer?.scheduler,
      ...differences,
      tokens: [
        ...(token === undefined ? [] : [{ token, user: { name: adminUser, groups: ['system:masters'] } }]),
        ...(apiServer?.tokens ?? []),
      ],
      server: {
        ...differences.server,
        history: historyOf(options),
        kubelets: apiServer?.kubelets,
        admissionPlugins: admission.enabled,
        disabledAdmissionPlugins: admission.disabled,
        encryption: apiServer?.encryption,
        serves: apiServer?.serves,
        serviceRanges: {
          clusterIpRange: (apiServer ?? defaultAddress).clusterIpRange,
          ...(options.workers ? { claims: true } : {}),
        },
        builtins: {
          body: limits.body,
          ...(limits.listObjects === undefined ? {} : { list: { objects: limits.listObjects } }),
          watchesPerUser: limits.watchesPerUser,
          ...(apiServer ? { inFlight: shareOf(apiServer.inFlight, options), flowControl: apiServer.flowControl } : {}),
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
          externalAddress: () => urlOf(addresses.advertised ?? addresses.local, parts.port()).slice('https://'.length),
          ...(apiServer ? { anonymous: apiServer.anonymous, authorization: chain ?? apiServer.authorization } : {}),
          jwt,
          tokenWebhook: apiServer?.tokenWebhook && new TokenWebhook({ ...apiServer.tokenWebhook, clock, log }),
          ...(apiServer?.bootstrapTokens === false ? { bootstrapTokens: false } : {}),
        },
      },
    }),
  )
  return {
    plane,
    rootCa,
    listening: {
      ...(serving ?? identity.serving),
      clientCas,
      host: (apiServer ?? defaultAddress).bindAddress,
      drainTimeout,
      limits: { headerBytes: limits.headerBytes, streamsPerConnection: limits.streamsPerConnection },
    },
  }
}

/** The part of the limits of concurrent requests that this process gets: all processes together have the limits of the flags. */
function shareOf(
  { readOnly, mutating }: NonNullable<PlaneOptions['apiServer']>['inFlight'],
  { workers = 0 }: PlaneOptions,
): { readOnly: number; mutating: number } {
  return { readOnly: Math.ceil(readOnly / (workers + 1)), mutating: Math.ceil(mutating / (workers + 1)) }
}

function historyOf({ backend, historyBytes }: PlaneOptions): { bytes: number; age?: number; revisions?: number } {
  if (backend.kind !== 'etcd') return { bytes: historyBytes }
  const age = toMillis(backend.compaction ?? '5m')
  // History in etcd takes none of this server's memory, so its age alone decides.
  return { bytes: historyBytes, age: age === 0 ? Number.POSITIVE_INFINITY : age, revisions: Number.POSITIVE_INFINITY }
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
  disposer.use(followConfig('authentication', file, (next) => authentication.update(next), { clock, log }))
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
  disposer.use(followConfig('authorization', file, (next) => chain.update(next), { clock, log }))
  return chain
}

async function certificateIn(file: string): Promise<string> {
  const text = await readFile(file, 'utf8')
  if (!text.includes('-----BEGIN CERTIFICATE-----'))
    throw new UsageError(`--client-ca and --client-ca-file must be a file with PEM certificates: ${file} contains none`)
  return text
}
