import { type Duration, nanosToMillis, parseDuration } from '@kubewright/base'
import type { Operator } from '../define/define-operator.ts'
import { type BindAddress, parseBindAddress } from '../serving/http/bind-address.ts'
import { type LogLevel, parseLogLevel } from '../telemetry/logging/log-level.ts'
import { type Flag, flagsHelp, parseFlags, UsageError } from './flags.ts'

/** A certificate in a folder. */
export interface CertificateFlags {
  readonly dir: string
  readonly certName: string
  readonly keyName: string
}

/** What the flags and the environment of an operator's program say. */
export interface RunSettings {
  readonly kubeconfig: string | undefined
  /** Undefined when nothing was said: the operator decides. */
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
    /** Undefined when nothing was said: a terminal gets lines for people. */
    readonly format: 'json' | 'pretty' | undefined
    readonly stackTraces: boolean
  }
  readonly gracefulTimeout: Duration
  /** Undefined when nothing was said: the operator decides. */
  readonly namespaces: readonly string[] | undefined
  readonly podName: string | undefined
  readonly podNamespace: string | undefined
}

const port = (text: string): number => {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535)
    throw new TypeError(`a port is a number to 65535, not "${text}"`)
  return Number(text)
}
const encoder = (text: string): 'json' | 'pretty' => {
  if (text === 'json') return 'json'
  if (text === 'console' || text === 'pretty') return 'pretty'
  throw new TypeError(`write json, or pretty (or console) for people, not "${text}"`)
}
const url = (text: string): void => {
  if (!URL.canParse(text) || new URL(text).protocol !== 'https:')
    throw new TypeError(`"${text}" is no https:// address`)
}
const oneOf =
  (...choices: string[]) =>
  (text: string): void => {
    if (!choices.includes(text)) throw new TypeError(`write one of ${choices.join(', ')}, not "${text}"`)
  }

const flags: readonly Flag[] = [
  {
    name: 'kubeconfig',
    value: 'FILE',
    help: 'How to reach the cluster; without it $KUBECONFIG, ~/.kube/config, or the service account of the pod.',
  },
  { name: 'leader-elect', help: 'Have only one replica work at a time; false turns off what the operator asks for.' },
  {
    name: 'metrics-bind-address',
    value: 'ADDRESS',
    default: '0',
    check: parseBindAddress,
    help: 'Where metrics are served, such as :8443, or :8080 without --metrics-secure; 0 turns them off.',
  },
  {
    name: 'metrics-secure',
    default: 'true',
    help: 'Serve metrics over HTTPS, to those whom the cluster allows to get /metrics.',
  },
  {
    name: 'metrics-cert-path',
    value: 'DIR',
    help: 'Folder with the certificate of the metrics server; without it one is made up.',
  },
  { name: 'metrics-cert-name', value: 'FILE', default: 'tls.crt', help: 'Its certificate.' },
  { name: 'metrics-cert-key', value: 'FILE', default: 'tls.key', help: 'Its key.' },
  {
    name: 'health-probe-bind-address',
    value: 'ADDRESS',
    default: ':8081',
    check: parseBindAddress,
    help: 'Where /healthz and /readyz are served; 0 turns them off.',
  },
  {
    name: 'debug-bind-address',
    value: 'ADDRESS',
    default: '0',
    check: parseBindAddress,
    help: 'Where queues, caches and recent reconciles are shown as JSON, such as 127.0.0.1:6060. Answers this machine only.',
  },
  { name: 'webhook-port', value: 'PORT', default: '9443', check: port, help: 'Where webhooks are served.' },
  {
    name: 'webhook-cert-path',
    value: 'DIR',
    help: 'Folder with the certificate of the webhooks; without it the operator looks after one itself.',
  },
  { name: 'webhook-cert-name', value: 'FILE', default: 'tls.crt', help: 'Their certificate.' },
  { name: 'webhook-cert-key', value: 'FILE', default: 'tls.key', help: 'Their key.' },
  {
    name: 'webhook-url',
    value: 'URL',
    check: url,
    help: 'For development: where the cluster can reach the webhooks of this process. They are registered there while it runs.',
  },
  { name: 'enable-http2', default: 'false', help: 'Offer HTTP/2 for metrics and webhooks.' },
  {
    name: 'graceful-shutdown-timeout',
    value: 'DURATION',
    default: '30s',
    check: parseDuration,
    help: 'How long running work may take to end.',
  },
  {
    name: 'log-level',
    aliases: ['zap-log-level'],
    value: 'LEVEL',
    default: 'info',
    check: parseLogLevel,
    help: 'error, info, debug, or a number for more than debug.',
  },
  {
    name: 'log-format',
    aliases: ['zap-encoder'],
    value: 'FORMAT',
    check: encoder,
    help: 'pretty (or console) for people, json for machines; without it pretty at a terminal, else json.',
  },
  {
    name: 'zap-devel',
    default: 'false',
    help: 'Short for --log-level debug --log-format pretty, unless these say otherwise.',
  },
  {
    name: 'zap-stacktrace-level',
    value: 'LEVEL',
    default: 'error',
    check: oneOf('info', 'error', 'panic'),
    help: 'Whether errors show where they were made: not with panic.',
  },
  { name: 'zap-time-encoding', value: 'NAME', help: 'Accepted, and without effect: times are always RFC 3339.' },
]

const helpWords = new Set(['--help', '-help', '-h', 'help'])

/** Whether the arguments ask for help. */
export function asksForHelp(args: readonly string[]): boolean {
  return args.some((arg) => helpWords.has(arg))
}

/** The help of an operator's program. */
export function runHelp({ name }: Pick<Operator, 'name'>): string {
  return `Usage: ${name} [FLAGS]

Runs the operator against a cluster until it is told to stop.

Flags:
${flagsHelp([...flags, { name: 'help', help: 'Show this.' }])}

Environment:
  KUBECONFIG       files that say how to reach the cluster
  WATCH_NAMESPACE  the namespaces to look at, separated by commas; empty for all
  ENABLE_WEBHOOKS  false leaves webhooks out
  POD_NAME         what this replica is called
  POD_NAMESPACE    where it runs, and keeps its Leases and Secrets
  NO_COLOR         leaves colours out
  FORCE_COLOR      paints what is not written to a terminal, too`
}

/** Reads flags and environment. Throws a UsageError that says what is wrong and what would be right. */
export function readSettings(args: readonly string[], env: Readonly<Record<string, string | undefined>>): RunSettings {
  const given = parseFlags(flags, args)
  const text = (name: string): string => given.get(name) ?? flags.find((flag) => flag.name === name)?.default ?? ''
  const isOn = (name: string): boolean => text(name) === 'true'
  const certificate = (part: 'metrics' | 'webhook'): CertificateFlags | undefined => {
    const dir = text(`${part}-cert-path`)
    return dir === '' ? undefined : { dir, certName: text(`${part}-cert-name`), keyName: text(`${part}-cert-key`) }
  }
  const isDevel = isOn('zap-devel')
  const format = given.get('log-format')
  return {
    kubeconfig: given.get('kubeconfig') || undefined,
    leaderElect: given.has('leader-elect') ? isOn('leader-elect') : undefined,
    metrics: {
      address: parseBindAddress(text('metrics-bind-address')),
      secure: isOn('metrics-secure'),
      certificate: certificate('metrics'),
    },
    probes: parseBindAddress(text('health-probe-bind-address')),
    debug: parseBindAddress(text('debug-bind-address')),
    webhooks: {
      enabled: readSwitch(env, 'ENABLE_WEBHOOKS'),
      port: port(text('webhook-port')),
      certificate: certificate('webhook'),
      url: given.get('webhook-url'),
    },
    http2: isOn('enable-http2'),
    log: {
      level: parseLogLevel(given.get('log-level') ?? (isDevel ? 'debug' : 'info')),
      format: format === undefined ? (isDevel ? 'pretty' : undefined) : encoder(format),
      stackTraces: text('zap-stacktrace-level') !== 'panic',
    },
    gracefulTimeout: nanosToMillis(parseDuration(text('graceful-shutdown-timeout'))),
    namespaces: readNamespaces(env['WATCH_NAMESPACE']),
    podName: env['POD_NAME'] || undefined,
    podNamespace: env['POD_NAMESPACE'] || undefined,
  }
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
  throw new UsageError(`the environment variable ${name} is true or false, not "${env[name]}"`)
}
