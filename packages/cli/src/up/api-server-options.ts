import { readFile } from 'node:fs/promises'
import { parseYaml } from '@kubewright/api'
import { errorText, type FlagValues, UsageError } from '@kubewright/base'
import {
  type AnonymousAccess,
  type AuditPolicy,
  type AuthorizationMode,
  defaultAdmissionPlugins,
  type EncryptionConfig,
  type KubeletOptions,
  type OptionalAdmissionPlugin,
  optionalAdmissionPlugins,
  parseAuditPolicy,
  parseEncryptionConfig,
  type StaticToken,
  type TokenWebhookOptions,
} from '@kubewright/server'
import type { apiServerFlags } from './api-server-flags.ts'
import { type AuthenticationOptions, authenticationOptions } from './authentication-options.ts'
import { type AuthorizationOptions, authorizationOptions, webhookConnections } from './authorization-options.ts'
import { type CertificateOptions, certificateOptions } from './certificate-options.ts'
import { featureGates } from './feature-gates.ts'
import { kubeletOptions } from './kubelet-options.ts'
import type { RotationLimits } from './rotating-file.ts'
import { runtimeConfig, type ServesResource } from './runtime-config.ts'
import { parseTokenFile } from './token-file.ts'

/** The options of an API server that kube-apiserver has as well, with the contents of the files that flags name. */
export interface ApiServerOptions {
  readonly bindAddress: string
  readonly advertiseAddress?: string | undefined
  readonly clusterIpRange: string
  /** The modes besides Webhook. */
  readonly authorization: readonly AuthorizationMode[]
  /** The chain of authorizers, if there are webhooks or a file; otherwise the modes decide. */
  readonly authorizers?: AuthorizationOptions | undefined
  readonly anonymous: AnonymousAccess
  /** The issuers of ID tokens; undefined for none. */
  readonly authentication?: AuthenticationOptions | undefined
  /** The webhook for bearer tokens; undefined for none. */
  readonly tokenWebhook?: TokenWebhookOptions | undefined
  readonly tokens: readonly StaticToken[]
  /** Certificates and keys that others have issued; undefined for none. */
  readonly certificates?: CertificateOptions | undefined
  readonly admission: AdmissionChoice
  readonly flowControl: boolean
  readonly inFlight: { readonly readOnly: number; readonly mutating: number }
  /** The audit log; undefined for none. */
  readonly audit?: AuditLogOptions | undefined
  readonly encryption?: EncryptionConfig | undefined
  /** Which built-in resources are served. @default all */
  readonly serves?: ServesResource | undefined
  readonly scheduler?: boolean | undefined
  /** Connections to kubelets; undefined for the defaults. */
  readonly kubelets?: KubeletOptions | undefined
  /** Whether bootstrap tokens authenticate. @default true */
  readonly bootstrapTokens?: boolean | undefined
  /** What the user should know about the combination of flags. */
  readonly warnings: readonly string[]
}

/** What the audit log records and where it is. */
export interface AuditLogOptions {
  readonly policy: AuditPolicy
  /** A file, or `-` for the standard output. */
  readonly path: string
  readonly limits: RotationLimits
}

/** The admission plugins to add to the default ones and to remove from them. */
export interface AdmissionChoice {
  readonly enabled: readonly OptionalAdmissionPlugin[]
  readonly disabled: readonly string[]
}

/** Derives the options from flags and reads the files that they name. Throws {@link UsageError} for values that kube-apiserver refuses. */
export async function apiServerOptions(
  values: FlagValues<typeof apiServerFlags>,
  enabledPlugins: readonly string[] = [],
): Promise<ApiServerOptions> {
  const warnings: string[] = []
  const { modes: authorization, chain } = await authorizationOptions(values, values['authorization-mode'])
  const { authentication, ...access } = await authenticationOptions(
    values,
    values['anonymous-auth'],
    values['service-account-issuer'],
  )
  let { anonymous } = access
  if (anonymous && authorization.includes('AlwaysAllow')) {
    anonymous = false
    warnings.push(
      'Requests without credentials get 401, because the authorization mode AlwaysAllow would allow them everything',
    )
  }
  warnings.push(...gateWarnings(values['feature-gates'] ?? new Map()))
  return {
    bindAddress: values['bind-address'],
    advertiseAddress: values['advertise-address'],
    clusterIpRange: values['service-cluster-ip-range'],
    authorization,
    authorizers: chain,
    anonymous,
    authentication,
    tokenWebhook: await tokenWebhookOptions(values),
    tokens: await tokensIn(values['token-auth-file'], warnings),
    certificates: await certificateOptions(values),
    admission: admissionChoice(enabledPlugins, values['disable-admission-plugins'] ?? []),
    flowControl: values['enable-priority-and-fairness'],
    inFlight: {
      readOnly: limitOf(values['max-requests-inflight']),
      mutating: limitOf(values['max-mutating-requests-inflight']),
    },
    audit: await auditOptions(values, warnings),
    serves: servedResources(values['runtime-config'], warnings),
    encryption: await encryptionIn(values['encryption-provider-config']),
    scheduler: values.scheduler,
    kubelets: await kubeletOptions(values),
    ...(values['enable-bootstrap-token-auth'] ? {} : { bootstrapTokens: false }),
    warnings,
  }
}

function limitOf(count: number): number {
  return count === 0 ? Number.POSITIVE_INFINITY : count
}

async function tokenWebhookOptions(
  values: FlagValues<typeof apiServerFlags>,
): Promise<TokenWebhookOptions | undefined> {
  const file = values['authentication-token-webhook-config-file']
  if (file === undefined) return undefined
  const connect = await webhookConnections([file], '--authentication-token-webhook-config-file')
  return {
    connection: connect(file),
    version: values['authentication-token-webhook-version'],
    cacheTtl: values['authentication-token-webhook-cache-ttl'],
  }
}

/** Resolves `--enable-admission-plugins` and `--disable-admission-plugins`. Naming a default plugin as enabled has no effect. */
export function admissionChoice(enable: readonly string[], disable: readonly string[]): AdmissionChoice {
  const known: readonly string[] = [...defaultAdmissionPlugins, ...optionalAdmissionPlugins]
  const check = (flag: string, names: readonly string[]): void => {
    for (const name of names) {
      if (known.includes(name)) continue
      throw new UsageError(`${flag} must be among ${[...known].sort().join(', ')}, not "${name}"`)
    }
  }
  check('--enable-admission-plugins', enable)
  check('--disable-admission-plugins', disable)
  const both = enable.filter((name) => disable.includes(name))
  if (both.length > 0) {
    throw new UsageError(`${both.join(', ')} in enable-admission-plugins and disable-admission-plugins overlapped`)
  }
  return { enabled: optionalAdmissionPlugins.filter((name) => enable.includes(name)), disabled: disable }
}

async function auditOptions(
  values: FlagValues<typeof apiServerFlags>,
  warnings: string[],
): Promise<AuditLogOptions | undefined> {
  const { 'audit-policy-file': file, 'audit-log-path': path } = values
  if (file === undefined) {
    if (path !== undefined) warnings.push('No audit events are recorded: --audit-log-path needs --audit-policy-file')
    return undefined
  }
  const { policy, unknownFields } = await configIn('--audit-policy-file', file, parseAuditPolicy)
  if (unknownFields.length > 0) warnings.push(`${file}: unknown fields are ignored: ${unknownFields.join(', ')}`)
  if (path === undefined) {
    warnings.push('No audit events are recorded: --audit-policy-file needs --audit-log-path')
    return undefined
  }
  const limits = {
    maxBytes: (values['audit-log-maxsize'] || 100) * 1024 * 1024,
    maxBackups: values['audit-log-maxbackup'],
    maxAgeDays: values['audit-log-maxage'],
  }
  return { policy, path, limits }
}

function servedResources(
  switches: ReadonlyMap<string, boolean> | undefined,
  warnings: string[],
): ServesResource | undefined {
  if (switches === undefined) return undefined
  const config = runtimeConfig(switches)
  warnings.push(...config.warnings)
  return config.serves
}

/** The gates whose value has no effect. Throws {@link UsageError} for gates and values that kube-apiserver refuses. */
function gateWarnings(gates: ReadonlyMap<string, boolean>): string[] {
  const ignored: string[] = []
  for (const [name, value] of gates) {
    const gate = featureGates.get(name)
    if (!gate) throw new UsageError(`--feature-gates: unrecognized feature gate: ${name}`)
    if (value === gate.default) continue
    if (gate.isLocked) {
      throw new UsageError(
        `--feature-gates: cannot set feature gate ${name} to ${value}, feature is locked to ${gate.default}`,
      )
    }
    ignored.push(`${name}=${value}`)
  }
  if (ignored.length === 0) return []
  return [
    `--feature-gates ${ignored.join(',')} has no effect: this server has the features of v1.35 that are on by default`,
  ]
}

async function encryptionIn(file: string | undefined): Promise<EncryptionConfig | undefined> {
  return file === undefined ? undefined : configIn('--encryption-provider-config', file, parseEncryptionConfig)
}

/** Reads a YAML or JSON file and parses its contents. Throws {@link UsageError} with the flag and the file for every mistake. */
async function configIn<T>(flag: string, file: string, parse: (value: unknown) => T): Promise<T> {
  try {
    return parse(parseYaml(await readFile(file, 'utf8')))
  } catch (error) {
    throw new UsageError(`${flag} ${file}: ${errorText(error)}`)
  }
}

async function tokensIn(file: string | undefined, warnings: string[]): Promise<StaticToken[]> {
  if (file === undefined) return []
  const parsed = parseTokenFile(await readFile(file, 'utf8'), file)
  warnings.push(...parsed.warnings)
  return parsed.tokens
}
