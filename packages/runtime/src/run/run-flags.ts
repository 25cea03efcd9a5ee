import {
  type Duration,
  defineFlags,
  type FlagTable,
  flagsHelp,
  integerFrom,
  nanosToMillis,
  parseDuration,
  parseFlags,
  UsageError,
} from '@kubewright/base'
import type { Operator } from '../define/define-operator.ts'
import { type BindAddress, parseBindAddress } from '../serving/http/bind-address.ts'
import { type LogLevel, parseLogLevel } from '../telemetry/logging/log-level.ts'

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
    parse: (text) => nanosToMillis(parseDuration(text)),
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
export function runHelp({ name }: Pick<Operator, 'name'>): string {
  return `Usage: ${name} [FLAGS]

Run the operator against a cluster until it receives SIGINT or SIGTERM.

${flagsHelp({ ...flags, help: { help: 'Show this help' } }, { heading: 'Flags' })}

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

/** Reads the settings from flags and environment. Throws {@link UsageError}. */
export function readSettings(args: readonly string[], env: Readonly<Record<string, string | undefined>>): RunSettings {
  const { values, operands, rest = [] } = parseFlags(flags, args, 'go')
  const [unexpected] = [...operands, ...rest]
  if (unexpected !== undefined) throw new UsageError(`unexpected argument "${unexpected}": operators take flags only`)
  const isDevel = values['zap-devel']
  return {
    kubeconfig: values.kubeconfig || undefined,
    leaderElect: values['leader-elect'],
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
