import {
  type Duration,
  defineFlags,
  type Flag,
  type FlagTable,
  type FlagValues,
  flagsHelp,
  integerFrom,
  nanosToMillis,
  omitUndefined,
  parseDuration,
  parseFlags,
  UsageError,
} from '@kubewright/base'
import type { LeaderElectionOptions, Operator } from '../define/define-operator.ts'
import { type BindAddress, parseBindAddress } from '../serving/http/bind-address.ts'
import { type LogLevel, parseLogLevel } from '../telemetry/logging/log-level.ts'
import type { RequestLimit } from './limit-requests.ts'

/** The file names of a certificate and its key. */
export interface CertificateFlags {
  readonly dir: string
  readonly certName: string
  readonly keyName: string
}

/** The settings of an operator program, from its flags and its environment. */
export interface RunSettings {
  readonly kubeconfig: string | undefined
  /** Undefined if absent: the operator's definition applies. */
  readonly leaderElect: boolean | undefined
  /** Options of the Lease that replace those of the operator's definition. */
  readonly lease: LeaderElectionOptions
  /** Undefined if absent: the server limits the rate. */
  readonly requests: RequestLimit | undefined
  readonly metrics: {
    readonly address: BindAddress | undefined
    readonly secure: boolean
    readonly certificate: CertificateFlags | undefined
  }
  readonly probes: BindAddress | undefined
  readonly debug: BindAddress | undefined
  readonly webhooks: {
    readonly enabled: boolean
    readonly port: number
    readonly certificate: CertificateFlags | undefined
    readonly url: string | undefined
  }
  readonly http2: boolean
  readonly log: {
    readonly level: LogLevel
    /** Undefined if absent: pretty at a terminal, otherwise JSON. */
    readonly format: 'json' | 'pretty' | undefined
    readonly stackTraces: boolean
  }
  readonly gracefulTimeout: Duration
  /** Undefined if absent: the operator's definition applies. */
  readonly namespaces: readonly string[] | undefined
  readonly podName: string | undefined
  readonly podNamespace: string | undefined
}

const encoder = (text: string, flag: string): 'json' | 'pretty' => {
  if (text === 'json') return 'json'
  if (text === 'console' || text === 'pretty') return 'pretty'
  throw new UsageError(`${flag} must be json, pretty or console, not "${text}"`)
}
const httpsUrl = (text: string, flag: string): string => {
  if (URL.canParse(text) && new URL(text).protocol === 'https:') return text
  throw new UsageError(`${flag} must be an https:// URL, not "${text}"`)
}

const duration = (text: string): number => nanosToMillis(parseDuration(text))
const rate = (text: string, flag: string): number => {
  const value = Number(text)
  if (text.trim() !== '' && value > 0 && Number.isFinite(value)) return value
  throw new UsageError(`${flag} must be a number greater than 0, not "${text}"`)
}

const flags = defineFlags({
  kubeconfig: {
    value: 'FILE',
    complete: 'files',
    defaultText: '$KUBECONFIG, then ~/.kube/config, then the service account of the pod',
    help: 'Use the cluster of this kubeconfig',
  },
  'leader-elect': {
    defaultText: 'as the operator defines it',
    help: 'Let only one replica work at a time; --leader-elect=false turns leader election off',
  },
  'leader-elect-lease-duration': {
    value: 'DURATION',
    defaultText: 'as the operator defines it, or 15s',
    parse: duration,
    help: 'Let another replica lead when the Lease was not renewed for this long',
  },
  'leader-elect-renew-deadline': {
    value: 'DURATION',
    defaultText: 'as the operator defines it, or 10s',
    parse: duration,
    help: 'Stop leading when the Lease could not be renewed for this long',
  },
  'leader-elect-retry-period': {
    value: 'DURATION',
    defaultText: 'as the operator defines it, or 2s',
    parse: duration,
    help: 'Wait this long between two attempts to acquire or renew the Lease',
  },
  'leader-elect-resource-name': {
    value: 'NAME',
    aliases: ['leader-election-id'],
    defaultText: 'as the operator defines it, or its name',
    help: 'Use the Lease of this name',
  },
  'leader-elect-resource-namespace': {
    value: 'NAMESPACE',
    aliases: ['leader-election-namespace'],
    defaultText: 'as the operator defines it, or that of the operator',
    help: 'Use the Lease in this namespace',
  },
  'kube-api-qps': {
    value: 'NUMBER',
    defaultText: 'no limit, the API server limits the rate',
    parse: rate,
    help: 'Send at most this many requests per second to the API server',
  },
  'kube-api-burst': {
    value: 'NUMBER',
    defaultText: 'one and a half times --kube-api-qps',
    parse: integerFrom(1, 1_000_000),
    help: 'Send up to this many requests at once when --kube-api-qps is set',
  },
  'metrics-bind-address': {
    value: 'ADDRESS',
    default: '0',
    parse: (text) => parseBindAddress(text),
    help: 'Serve metrics at this address, such as :8443, or :8080 with --metrics-secure=false; 0 disables them',
  },
  'metrics-secure': {
    default: true,
    help: 'Serve metrics over HTTPS, and only to clients that may get /metrics in the cluster',
  },
  'metrics-cert-path': {
    value: 'DIR',
    complete: 'folders',
    defaultText: 'a self-signed certificate',
    help: 'Read the certificate of the metrics server from this folder',
  },
  'metrics-cert-name': {
    value: 'FILE',
    default: 'tls.crt',
    help: 'Read the certificate from this file in the folder of --metrics-cert-path',
  },
  'metrics-cert-key': {
    value: 'FILE',
    default: 'tls.key',
    help: 'Read the key from this file in the folder of --metrics-cert-path',
  },
  'health-probe-bind-address': {
    value: 'ADDRESS',
    default: ':8081',
    parse: (text) => parseBindAddress(text),
    help: 'Serve /healthz and /readyz at this address; 0 disables them',
  },
  'debug-bind-address': {
    value: 'ADDRESS',
    default: '0',
    parse: (text) => parseBindAddress(text),
    help: 'Serve queues, caches and recent reconciles (/debug/kubewright), CPU profiles (/debug/profile?seconds=30) and heap snapshots (/debug/heap) at this address, such as 127.0.0.1:6060, to clients on this machine; 0 disables it',
  },
  'webhook-port': {
    value: 'PORT',
    default: '9443',
    parse: integerFrom(0, 65_535),
    help: 'Serve webhooks on this port',
  },
  'webhook-cert-path': {
    value: 'DIR',
    complete: 'folders',
    defaultText: 'a certificate that the operator issues and renews itself',
    help: 'Read the certificate of the webhook server from this folder',
  },
  'webhook-cert-name': {
    value: 'FILE',
    default: 'tls.crt',
    help: 'Read the certificate from this file of --webhook-cert-path',
  },
  'webhook-cert-key': { value: 'FILE', default: 'tls.key', help: 'Read the key from this file of --webhook-cert-path' },
  'webhook-url': {
    value: 'URL',
    parse: httpsUrl,
    help: 'For development: register the webhooks at this URL of this process while it runs',
  },
  'enable-http2': { default: false, help: 'Offer HTTP/2 for metrics and webhooks' },
  'graceful-shutdown-timeout': {
    value: 'DURATION',
    default: '30s',
    parse: duration,
    help: 'Give running reconciles this long to finish at shutdown',
  },
  'log-level': {
    value: 'LEVEL',
    aliases: ['zap-log-level'],
    defaultText: 'info',
    parse: (text) => parseLogLevel(text),
    help: 'Log at this level: error, info, debug, or a number for more detail than debug',
  },
  'log-format': {
    value: 'FORMAT',
    aliases: ['zap-encoder'],
    defaultText: 'pretty at a terminal, else json',
    parse: encoder,
    help: 'Log in this format: pretty (or console) for people, json for machines',
  },
  'zap-devel': {
    default: false,
    help: 'Make --log-level debug and --log-format pretty the defaults',
  },
  'zap-stacktrace-level': {
    value: 'LEVEL',
    default: 'error',
    choices: ['info', 'error', 'panic'],
    help: 'Log stack traces from this level on: info, error or panic; panic omits them',
  },
  'zap-time-encoding': { value: 'NAME', help: 'Accepted for compatibility and ignored: times are always RFC 3339' },
})

/** The flags of every operator program. */
export const operatorFlags: FlagTable = flags

const helpWords = new Set(['--help', '-help', '-h', 'help'])

/** Whether the arguments ask for help. */
export function isHelpRequest(args: readonly string[]): boolean {
  return args.some((arg) => helpWords.has(arg))
}

/** The help of an operator program. */
export function runHelp({ name }: Pick<Operator, 'name'>, own: FlagTable = {}): string {
  return `Usage: ${name} [FLAGS]

Run the operator against a cluster until it receives SIGINT or SIGTERM.

${ownHelp(own)}${flagsHelp({ ...flags, help: { help: 'Show this help' } }, { heading: 'Flags' })}

Switches are off unless stated otherwise; --NAME=false turns one off.

Environment
  KUBECONFIG       Kubeconfig files of the cluster
  WATCH_NAMESPACE  Namespaces to watch, separated by commas; empty for all
  ENABLE_WEBHOOKS  false disables webhooks
  POD_NAME         Name of this replica
  POD_NAMESPACE    Namespace of this replica, of its Leases and its Secrets
  NO_COLOR         Disables colours
  FORCE_COLOR      Enables colours where the output is not a terminal`
}

const ownHelp = (own: FlagTable): string =>
  Object.keys(own).length === 0 ? '' : `${flagsHelp(own, { heading: 'Flags of this operator' })}\n\n`

/** Throws a TypeError if a flag of the operator's own has a name that every operator's program has already. */
export function checkOwnFlags(own: FlagTable): void {
  const taken = new Set(['help', ...Object.entries(flags).flatMap(([name, flag]) => [name, ...aliasesOf(flag)])])
  for (const [name, flag] of Object.entries(own)) {
    const clash = [name, ...aliasesOf(flag)].find((each) => taken.has(each))
    if (clash !== undefined) {
      throw new TypeError(
        `Cannot run the operator as its flag --${clash} exists in every operator: choose another name`,
      )
    }
  }
}

const aliasesOf = ({ aliases = [] }: Flag): readonly string[] => aliases

/** The values of the operator's own flags. Throws {@link UsageError}. */
export function readOwnFlags<T extends FlagTable>(own: T, args: readonly string[]): FlagValues<T> {
  const { values } = parseFlags({ ...flags, ...own } as FlagTable, args, 'go')
  // The reader has followed the table.
  return Object.fromEntries(Object.keys(own).map((name) => [name, values[name]])) as FlagValues<T>
}

/** Reads the settings from flags and environment. `own` are further flags that it accepts. Throws {@link UsageError}. */
export function readSettings(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  own: FlagTable = {},
): RunSettings {
  const { values: all, operands, rest = [] } = parseFlags({ ...flags, ...own } as FlagTable, args, 'go')
  // The names of both tables differ, so these are the values of the framework's flags.
  const values = all as unknown as FlagValues<typeof flags>
  const [unexpected] = [...operands, ...rest]
  if (unexpected !== undefined) throw new UsageError(`unexpected argument "${unexpected}": operators take flags only`)
  const isDevel = values['zap-devel']
  return {
    kubeconfig: values.kubeconfig || undefined,
    leaderElect: values['leader-elect'],
    lease: omitUndefined({
      leaseDuration: values['leader-elect-lease-duration'],
      renewDeadline: values['leader-elect-renew-deadline'],
      retryPeriod: values['leader-elect-retry-period'],
      leaseName: values['leader-elect-resource-name'],
      namespace: values['leader-elect-resource-namespace'],
    }),
    requests: requestLimit(values['kube-api-qps'], values['kube-api-burst']),
    metrics: {
      address: values['metrics-bind-address'],
      secure: values['metrics-secure'],
      certificate: certificateIn(values['metrics-cert-path'], values['metrics-cert-name'], values['metrics-cert-key']),
    },
    probes: values['health-probe-bind-address'],
    debug: values['debug-bind-address'],
    webhooks: {
      enabled: readSwitch(env, 'ENABLE_WEBHOOKS'),
      port: values['webhook-port'],
      certificate: certificateIn(values['webhook-cert-path'], values['webhook-cert-name'], values['webhook-cert-key']),
      url: values['webhook-url'],
    },
    http2: values['enable-http2'],
    log: {
      level: values['log-level'] ?? parseLogLevel(isDevel ? 'debug' : 'info'),
      format: values['log-format'] ?? (isDevel ? 'pretty' : undefined),
      stackTraces: values['zap-stacktrace-level'] !== 'panic',
    },
    gracefulTimeout: values['graceful-shutdown-timeout'],
    namespaces: readNamespaces(env['WATCH_NAMESPACE']),
    podName: env['POD_NAME'] || undefined,
    podNamespace: env['POD_NAMESPACE'] || undefined,
  }
}

function requestLimit(qps: number | undefined, burst: number | undefined): RequestLimit | undefined {
  if (qps !== undefined) return { qps, burst: burst ?? Math.max(1, Math.ceil(1.5 * qps)) }
  if (burst === undefined) return undefined
  throw new UsageError('--kube-api-burst has no effect without --kube-api-qps: set both')
}

function certificateIn(dir: string | undefined, certName: string, keyName: string): CertificateFlags | undefined {
  return dir ? { dir, certName, keyName } : undefined
}

function readNamespaces(text: string | undefined): readonly string[] | undefined {
  if (text === undefined) return undefined
  return text
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
}

function readSwitch(env: Readonly<Record<string, string | undefined>>, name: string): boolean {
  const value = (env[name] ?? '').toLowerCase()
  if (['', 'true', '1'].includes(value)) return true
  if (['false', '0'].includes(value)) return false
  throw new UsageError(`the environment variable ${name} must be true or false, not "${env[name]}"`)
}
