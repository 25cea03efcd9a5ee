import { type Clock, errorText } from '@kubewright/base'
import { basicAuth, bearerToken, type Credentials, type Impersonation } from '../rest/credentials.ts'
import type { ClientConfig } from './client-config.ts'
import { ConfigError } from './config-error.ts'
import type { ConfigHost } from './config-host.ts'
import { ExecCredentials } from './exec-credentials.ts'
import { type Kubeconfig, KubeconfigEntry } from './kubeconfig.ts'
import { proxyFromEnv } from './proxy-from-env.ts'
import { RotatingFile } from './rotating-file.ts'
import { type PemSource, tlsSource } from './tls-source.ts'
import { tokenFilePeriod, tokenFromFile } from './token-file.ts'

/** Overrides of the current context of a kubeconfig. */
export interface ContextChoice {
  readonly context?: string | undefined
  readonly cluster?: string | undefined
  readonly user?: string | undefined
  readonly namespace?: string | undefined
}

/** The machine and clock for reading files and running programs. */
export interface ConfigMachine {
  readonly host: ConfigHost
  readonly clock: Clock
}

/** The interval at which certificate files are read again, as in client-go. */
const certificatePeriod = 5 * 60_000

/** Resolves a context of a kubeconfig to a configuration. Files are read on first use, not here. */
export function resolveContext(kubeconfig: Kubeconfig, choice: ContextChoice, machine: ConfigMachine): ClientConfig {
  const name = choice.context ?? kubeconfig.currentContext
  const files = kubeconfig.files.join(':')
  const context = name === undefined ? undefined : kubeconfig.contexts.get(name)
  if (name !== undefined && context === undefined) {
    throw new ConfigError(`${files}: context ${JSON.stringify(name)} does not exist: ${known('contexts', kubeconfig)}`)
  }
  if (name === undefined && choice.cluster === undefined) {
    throw new ConfigError(`${files}: current-context is not set; choose a context: ${known('contexts', kubeconfig)}`)
  }
  const cluster = entryOf(kubeconfig, 'clusters', choice.cluster, context, 'cluster')
  const user = entryOf(kubeconfig, 'users', choice.user, context, 'user')
  const server = serverOf(cluster)
  const exec = execOf(user, cluster, machine)
  const compression = !cluster.flag('disable-compression')
  return {
    source: name === undefined ? files : `${files} context ${JSON.stringify(name)}`,
    server: server.href.replace(/\/$/, ''),
    namespace: choice.namespace ?? context?.text('namespace') ?? 'default',
    tls: tlsSource({
      ca: authorityOf(cluster, machine),
      identity: identityOf(user, exec, machine),
      serverName: cluster.text('tls-server-name'),
      insecure: cluster.flag('insecure-skip-tls-verify'),
    }),
    credentials: exec ?? credentialsOf(user, machine),
    impersonate: impersonationOf(user),
    proxy: proxyOf(cluster) ?? proxyFromEnv(machine.host.env, server),
    compression,
  }
}

function known(part: 'clusters' | 'users' | 'contexts', kubeconfig: Kubeconfig): string {
  const names = [...kubeconfig[part].keys()]
  return names.length === 0 ? `there are no ${part}` : `the ${part} are ${names.join(', ')}`
}

function entryOf(
  kubeconfig: Kubeconfig,
  part: 'clusters' | 'users',
  chosen: string | undefined,
  context: KubeconfigEntry | undefined,
  field: 'cluster' | 'user',
): KubeconfigEntry {
  const name = chosen ?? context?.text(field)
  const found = name === undefined ? undefined : kubeconfig[part].get(name)
  if (found) return found
  const file = context?.file ?? kubeconfig.files.join(':')
  // A context without a user has no credentials.
  if (name === undefined && field === 'user') return new KubeconfigEntry(file, 'users', {})
  if (name === undefined) throw (context as KubeconfigEntry).error(field, 'must be specified')
  const problem = `${field} ${JSON.stringify(name)} does not exist: ${known(part, kubeconfig)}`
  throw context && chosen === undefined ? context.error(field, problem) : new ConfigError(`${file}: ${problem}`)
}

function serverOf(cluster: KubeconfigEntry): URL {
  const text = cluster.text('server')
  if (text === undefined) throw cluster.error('server', 'must be specified')
  const url = urlOf(text.includes('://') ? text : `https://${text}`)
  if (url?.protocol === 'https:' || url?.protocol === 'http:') return url
  throw cluster.error('server', `must be a URL such as https://host:6443, not ${JSON.stringify(text)}`)
}

function proxyOf(cluster: KubeconfigEntry): string | undefined {
  const text = cluster.text('proxy-url')
  if (text === undefined) return undefined
  const protocol = urlOf(text)?.protocol
  if (protocol === 'http:' || protocol === 'https:') return text
  // The URL may contain a password, so it is not shown.
  throw cluster.error('proxy-url', 'must be a URL of scheme http or https')
}

function urlOf(text: string): URL | undefined {
  return URL.canParse(text) ? new URL(text) : undefined
}

/**
 * The PEM of a field: embedded data, or else a file that is read again periodically. As in kubectl, data takes
 * precedence.
 */
function pemOf(entry: KubeconfigEntry, field: string, { host, clock }: ConfigMachine): PemSource | undefined {
  const data = entry.data(`${field}-data`)
  if (data !== undefined) return () => data
  const path = entry.filePath(field)
  if (path === undefined) return undefined
  const failure = (_: string, error: unknown): Error =>
    entry.error(field, `cannot read the file: ${errorText(error)}`, error)
  const file = new RotatingFile(path, { host, clock, period: certificatePeriod, failure })
  return async () => {
    const text = await file.read()
    if (!text.includes('-----BEGIN ')) throw entry.error(field, `${path} is not PEM`)
    return text
  }
}

function authorityOf(cluster: KubeconfigEntry, machine: ConfigMachine): PemSource | undefined {
  const source = pemOf(cluster, 'certificate-authority', machine)
  if (source && cluster.flag('insecure-skip-tls-verify')) {
    throw cluster.error('insecure-skip-tls-verify', 'must not be true where a certificate-authority is specified')
  }
  return source
}

function identityOf(
  user: KubeconfigEntry,
  exec: ExecCredentials | undefined,
  machine: ConfigMachine,
): (() => Promise<{ cert?: string | undefined; key?: string | undefined }>) | undefined {
  const cert = pemOf(user, 'client-certificate', machine)
  const key = pemOf(user, 'client-key', machine)
  if (cert && !key) throw user.error('client-key', 'or client-key-data must be specified with client-certificate')
  if (key && !cert)
    throw user.error('client-certificate', 'or client-certificate-data must be specified with client-key')
  if (cert && key) {
    return async () => {
      const [certText, keyText] = await Promise.all([cert(), key()])
      return { cert: certText, key: keyText }
    }
  }
  return exec ? async () => exec.credential() : undefined
}

function execOf(user: KubeconfigEntry, cluster: KubeconfigEntry, machine: ConfigMachine): ExecCredentials | undefined {
  const exec = user.entry('exec')
  if (exec === undefined) return undefined
  const ca = cluster.data('certificate-authority-data')
  return new ExecCredentials({
    ...machine,
    exec,
    cluster: {
      server: cluster.text('server'),
      'tls-server-name': cluster.text('tls-server-name'),
      'insecure-skip-tls-verify': cluster.flag('insecure-skip-tls-verify') || undefined,
      'certificate-authority-data': ca === undefined ? undefined : Buffer.from(ca).toString('base64'),
      'proxy-url': cluster.text('proxy-url'),
      config: null,
    },
  })
}

function credentialsOf(user: KubeconfigEntry, { host, clock }: ConfigMachine): Credentials | undefined {
  if (user.has('auth-provider')) {
    throw user.error('auth-provider', 'is not supported: Kubernetes removed it; use an exec plugin instead')
  }
  const token = user.text('token')
  const tokenFile = user.filePath('tokenFile')
  const username = user.text('username')
  if (username !== undefined && (token !== undefined || tokenFile !== undefined)) {
    throw user.error('username', 'username/password or bearer token may be set, but not both')
  }
  if (tokenFile !== undefined) {
    const failure = (_: string, error: unknown): Error =>
      user.error('tokenFile', `cannot read the file: ${errorText(error)}`, error)
    return tokenFromFile(new RotatingFile(tokenFile, { host, clock, period: tokenFilePeriod, failure }), token)
  }
  if (token !== undefined) return bearerToken(token)
  return username === undefined ? undefined : basicAuth(username, user.text('password') ?? '')
}

function impersonationOf(user: KubeconfigEntry): Impersonation | undefined {
  const impersonated = user.text('as')
  const uid = user.text('as-uid')
  const groups = user.texts('as-groups')
  const extraEntry = user.entry('as-user-extra')
  const extra = Object.fromEntries((extraEntry?.keys() ?? []).map((key) => [key, extraEntry?.texts(key) ?? []]))
  if (impersonated !== undefined) return { user: impersonated, uid, groups, extra }
  if (uid !== undefined || groups.length > 0 || Object.keys(extra).length > 0) {
    throw user.error('as', 'must be specified to impersonate a uid, groups or user-extra')
  }
  return undefined
}
