import { readFile } from 'node:fs/promises'
import { parseYaml } from '@kubewright/api'
import { type Defined, errorText, type FlagValues, IPAddress, UsageError } from '@kubewright/base'
import type { AccessConfig, AuditConfig, PlaneConfig } from '@kubewright/controlplane'
import type { Release } from '@kubewright/k8s/releases'
import {
  defaultAdmissionPlugins,
  type EncryptionConfig,
  optionalAdmissionPlugins,
  parseAuditPolicy,
  parseEncryptionConfig,
  type StaticToken,
} from '@kubewright/server'
import type { CommandContext } from '../command/command-context.ts'
import type { apiServerFlags } from './api-server-flags.ts'
import { authenticationConfig } from './authentication-config.ts'
import { authorizationConfig, webhookConnections } from './authorization-config.ts'
import { certificateConfig } from './certificate-config.ts'
import { kubeletConfig } from './kubelet-config.ts'
import { runtimeConfig, type ServesResource } from './runtime-config.ts'
import { parseTokenFile } from './token-file.ts'

/** The configuration of a control plane by kube-apiserver's flags, and what the user should know about them. */
export interface ApiServerConfig {
  readonly config: PlaneConfig
  readonly warnings: readonly string[]
}

type Flags = FlagValues<typeof apiServerFlags>

/** Derives the configuration from flags and reads the files that they name. Throws {@link UsageError} for values that kube-apiserver refuses. */
export async function apiServerConfig(
  release: Release,
  values: Flags & { readonly 'enable-admission-plugins'?: readonly string[] | undefined },
  { out }: Pick<CommandContext, 'out'>,
): Promise<ApiServerConfig> {
  const warnings: string[] = []
  const { modes, chain } = await authorizationConfig(values, values['authorization-mode'])
  const { jwt, ...given } = await authenticationConfig(
    values,
    values['anonymous-auth'],
    values['service-account-issuer'],
  )
  let { anonymous } = given
  if (anonymous && modes.includes('AlwaysAllow')) {
    anonymous = false
    warnings.push(
      'Requests without credentials get 401, because the authorization mode AlwaysAllow would allow them everything',
    )
  }
  warnings.push(...gateWarnings(release, values['feature-gates'] ?? new Map()))
  const tokenWebhook = await tokenWebhookConfig(values)
  const tokens = await tokensIn(values['token-auth-file'], warnings)
  const { serving: certificate, serviceAccounts } = (await certificateConfig(values)) ?? {}
  const plugins = admissionPlugins(values['enable-admission-plugins'] ?? [], values['disable-admission-plugins'] ?? [])
  const config = {
    ...plugins,
    serving: { bindAddress: values['bind-address'], advertiseAddress: advertised(values), certificate },
    serviceRanges: { clusterIpRange: values['service-cluster-ip-range'] },
    access: {
      authorization: chain ?? modes,
      anonymous,
      jwt,
      tokenWebhook,
      tokens,
      serviceAccounts,
      bootstrapTokens: values['enable-bootstrap-token-auth'],
    },
    flowControl: values['enable-priority-and-fairness'],
    limits: {
      inFlight: {
        readOnly: limitOf(values['max-requests-inflight']),
        mutating: limitOf(values['max-mutating-requests-inflight']),
      },
    },
    audit: await auditConfig(values, warnings, out),
    serves: servedResources(release, values['runtime-config'], warnings),
    encryption: await encryptionIn(values['encryption-provider-config']),
    scheduler: values.scheduler,
    kubelets: await kubeletConfig(values),
  }
  return { config, warnings }
}

function advertised({ 'advertise-address': address }: Flags): string | undefined {
  if (address !== undefined && !IPAddress.parse(address).isGlobalUnicast()) {
    throw new UsageError(
      `--advertise-address must be an address that the rest of the cluster can reach, not "${address}"`,
    )
  }
  return address
}

function limitOf(count: number): number {
  return count === 0 ? Number.POSITIVE_INFINITY : count
}

async function tokenWebhookConfig(values: Flags): Promise<AccessConfig['tokenWebhook']> {
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
export function admissionPlugins(
  enable: readonly string[],
  disable: readonly string[],
): Defined<Pick<PlaneConfig, 'admissionPlugins' | 'disabledAdmissionPlugins'>> {
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
  return {
    admissionPlugins: optionalAdmissionPlugins.filter((name) => enable.includes(name)),
    disabledAdmissionPlugins: disable,
  }
}

/** The audit log; `out` writes it to the standard output. */
async function auditConfig(
  values: Flags,
  warnings: string[],
  out: (line: string) => void,
): Promise<AuditConfig | undefined> {
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
  if (path === '-') return { policy, sink: out }
  const rotation = {
    maxBytes: (values['audit-log-maxsize'] || 100) * 1024 * 1024,
    maxBackups: values['audit-log-maxbackup'],
    maxAgeDays: values['audit-log-maxage'],
  }
  return { policy, file: path, rotation }
}

function servedResources(
  release: Release,
  switches: ReadonlyMap<string, boolean> | undefined,
  warnings: string[],
): ServesResource | undefined {
  if (switches === undefined) return undefined
  const config = runtimeConfig(release, switches)
  warnings.push(...config.warnings)
  return config.serves
}

/** The gates whose value has no effect. Throws {@link UsageError} for gates and values that kube-apiserver refuses. */
function gateWarnings(release: Release, gates: ReadonlyMap<string, boolean>): string[] {
  const ignored: string[] = []
  for (const [name, value] of gates) {
    const gate = release.featureGates.get(name)
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
    `--feature-gates ${ignored.join(',')} has no effect: this server has the features of v${release.version} that are on by default`,
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
