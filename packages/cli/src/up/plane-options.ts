import { maxJsonDepth } from '@kubewright/api'
import { type Duration, type FlagValues, UsageError } from '@kubewright/base'
import type { ApiServerOptions } from './api-server-options.ts'
import type { certificateFlags } from './certificate-flags.ts'
import type { etcdFlags } from './etcd-flags.ts'
import type { planeFlags } from './plane-flags.ts'
import type { UpFlagValues } from './worker-messages.ts'

/** Where a control plane keeps objects. */
export type Backend = { readonly kind: 'memory' } | { readonly kind: 'durable'; readonly folder: string } | EtcdBackend

/** An etcd cluster. */
export interface EtcdBackend {
  readonly kind: 'etcd'
  readonly endpoints: readonly string[]
  /** Files of PEM certificates and the key. @default what the environment variables of etcdctl name */
  readonly caFile?: string | undefined
  readonly certFile?: string | undefined
  readonly keyFile?: string | undefined
  /** @default '/kubewright' */
  readonly prefix?: string | undefined
  /** How long history is kept; 0 never compacts. @default '5m' */
  readonly compaction?: Duration | undefined
}

/** The limits of requests that flags set. */
export interface PlaneLimits {
  readonly body: { readonly bytes: number; readonly values: number; readonly depth?: number }
  readonly headerBytes: number
  readonly streamsPerConnection: number
  readonly watchesPerUser: number
  /** Objects of one list response. */
  readonly listObjects?: number
}

/** The options of a control plane that a command starts. */
export interface PlaneOptions {
  /** 0 picks a free port. */
  readonly port: number
  readonly backend: Backend
  /** The bytes of old object versions to keep. */
  readonly historyBytes: number
  readonly limits: PlaneLimits
  /** The file that the kubeconfig is written to. */
  readonly kubeconfig: string
  readonly controllers: 'all' | 'none' | readonly string[]
  readonly nodes: number
  readonly token?: string
  /** A file of PEM certificates. */
  readonly clientCa?: string
  /** Not checked yet: the server knows the names. */
  readonly admissionPlugins?: readonly string[]
  /** The options that only `up` has. @default those of its flags without a value */
  readonly apiServer?: ApiServerOptions
  /** How long the server serves requests after its readiness check has failed. @default 0 */
  readonly shutdownDelay?: Duration | undefined
  /** The number of worker processes that serve requests besides this one. @default 0 */
  readonly workers?: number | undefined
  /** The flags of `up`, for its workers. */
  readonly flags?: UpFlagValues | undefined
  /** Whether the console can inject faults. @default false */
  readonly levers?: boolean | undefined
  readonly verbose: boolean
}

/** Derives the options from flags. `backend` is the default. Throws {@link UsageError} for flags that exclude each other. */
export function planeOptions(values: FlagValues<ReturnType<typeof planeFlags>>, backend: Backend): PlaneOptions {
  const { port, kubeconfig, controllers, nodes, verbose, token } = values
  const { 'client-ca': clientCa, 'enable-admission-plugins': admissionPlugins } = values
  return {
    port,
    backend: backendOf(values) ?? backend,
    historyBytes: values['history-mib'] * 1024 * 1024,
    limits: limitsOf(values),
    kubeconfig,
    controllers,
    nodes,
    verbose,
    ...(token === undefined ? {} : { token }),
    ...(clientCa === undefined ? {} : { clientCa }),
    ...(admissionPlugins === undefined ? {} : { admissionPlugins }),
  }
}

/** Adds the port and the client CA of kube-apiserver's flags. Throws {@link UsageError} for flags that exclude each other. */
export function withServingFlags(options: PlaneOptions, values: FlagValues<typeof certificateFlags>): PlaneOptions {
  const { 'secure-port': port = options.port, 'client-ca-file': clientCa } = values
  if (clientCa === undefined) return { ...options, port }
  if (options.clientCa !== undefined) {
    throw new UsageError('--client-ca and --client-ca-file exclude each other: give one of them')
  }
  return { ...options, port, clientCa }
}

/** Adds what the flags of etcd say to the options. Throws {@link UsageError} for flags that exclude each other. */
export function withEtcdFlags(options: PlaneOptions, values: FlagValues<typeof etcdFlags>): PlaneOptions {
  const { 'etcd-servers': servers, 'etcd-certfile': certFile, 'etcd-keyfile': keyFile } = values
  if (servers !== undefined && options.backend.kind === 'etcd')
    throw new UsageError('--etcd and --etcd-servers exclude each other: give one of them')
  if (servers !== undefined && options.backend.kind === 'memory')
    throw new UsageError('--memory and --etcd-servers exclude each other: give one of them')
  const endpoints = options.backend.kind === 'etcd' ? options.backend.endpoints : servers
  if ((certFile === undefined) !== (keyFile === undefined))
    throw new UsageError('--etcd-certfile and --etcd-keyfile must be given together')
  const shutdownDelay = values['shutdown-delay-duration']
  if (endpoints === undefined) {
    if (values['etcd-cafile'] !== undefined || certFile !== undefined)
      throw new UsageError('The certificates of etcd have no effect without --etcd: name its servers')
    return { ...options, shutdownDelay }
  }
  const backend: EtcdBackend = {
    kind: 'etcd',
    endpoints,
    caFile: values['etcd-cafile'],
    certFile,
    keyFile,
    prefix: values['etcd-prefix'],
    compaction: values['etcd-compaction-interval'],
  }
  return { ...options, backend, shutdownDelay }
}

function limitsOf(values: FlagValues<ReturnType<typeof planeFlags>>): PlaneLimits {
  const { 'max-body-depth': depth, 'max-list-objects': listObjects } = values
  return {
    body: {
      bytes: values['max-body-mib'] * 1024 * 1024,
      values: values['max-body-values'],
      // The reader of bodies enforces the maximum by itself, without a second pass.
      ...(depth === maxJsonDepth ? {} : { depth }),
    },
    // The largest value of the HTTP/2 default excludes 64 KiB itself.
    headerBytes: values['max-header-kib'] * 1024 - 1,
    streamsPerConnection: values['max-streams'],
    watchesPerUser: values['max-watches-per-user'],
    ...(listObjects === undefined ? {} : { listObjects }),
  }
}

function backendOf({ data, memory, etcd }: FlagValues<ReturnType<typeof planeFlags>>): Backend | undefined {
  const given = [data !== undefined && '--data', memory && '--memory', etcd !== undefined && '--etcd']
  const chosen = given.filter((flag) => typeof flag === 'string')
  if (chosen.length > 1) throw new UsageError(`${chosen.join(' and ')} exclude each other: give one of them`)
  if (memory) return { kind: 'memory' }
  if (data !== undefined) return { kind: 'durable', folder: data }
  return etcd === undefined ? undefined : { kind: 'etcd', endpoints: etcd }
}
