import { readFile, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { parseYaml } from '@kubewright/api'
import { CaughtError, errorText, type FlagValues, UsageError } from '@kubewright/base'
import { loadClientConfig } from '@kubewright/client'
import type { AuthorizersConfig } from '@kubewright/controlplane'
import {
  type AuthorizationMode,
  type AuthorizerConfig,
  authorizationModes,
  parseAuthorizationConfig,
} from '@kubewright/server'
import type { authorizationFlags } from './authorization-flags.ts'

/** The modes besides Webhook, and the chain if there is more than modes. */
export interface ParsedAuthorization {
  readonly modes: readonly AuthorizationMode[]
  readonly chain?: AuthorizersConfig | undefined
}

const defaultModes = ['Node', 'RBAC'] as const

/** Derives the authorizers from flags and from the files that they name. Throws {@link UsageError} for values that kube-apiserver refuses. */
export async function authorizationConfig(
  values: FlagValues<typeof authorizationFlags>,
  modeFlag: readonly string[] | undefined,
): Promise<ParsedAuthorization> {
  const path = values['authorization-config']
  const hasWebhookFlag = Object.entries(values).some(
    ([name, value]) => name.startsWith('authorization-webhook-') && value !== undefined,
  )
  if (path !== undefined) {
    if (modeFlag !== undefined || hasWebhookFlag) {
      throw new UsageError(
        '--authorization-config can not be specified when --authorization-mode or --authorization-webhook-* flags are defined',
      )
    }
    return fromFile(path)
  }
  const names = modeFlag ?? defaultModes
  const modes = modesOf(names)
  const webhookFile = values['authorization-webhook-config-file']
  if (!names.includes('Webhook')) {
    if (webhookFile === undefined) return { modes }
    throw new UsageError('cannot specify --authorization-webhook-config-file without mode Webhook')
  }
  if (webhookFile === undefined) {
    throw new UsageError(`authorization-mode Webhook's authorization config file not passed`)
  }
  const kubeConfigFile = resolve(webhookFile)
  const connect = await webhookConnections([kubeConfigFile], '--authorization-webhook-config-file')
  const authorizers = names.map((type): AuthorizerConfig => {
    if (type !== 'Webhook') return { type: type as AuthorizationMode, name: type.toLowerCase() }
    const webhook = {
      timeout: 30_000,
      authorizedTtl: values['authorization-webhook-cache-authorized-ttl'] ?? 300_000,
      unauthorizedTtl: values['authorization-webhook-cache-unauthorized-ttl'] ?? 30_000,
      version: versionOf(values['authorization-webhook-version']),
      failurePolicy: 'NoOpinion' as const,
      kubeConfigFile,
      matchConditions: [],
    }
    return { type, name: 'default', webhook }
  })
  return { modes, chain: { authorizers, connect } }
}

function versionOf(text = 'v1beta1'): 'v1' | 'v1beta1' {
  if (text === 'v1' || text === 'v1beta1') return text
  throw new UsageError(`unsupported webhook authorizer version "${text}", supported versions are "v1", "v1beta1"`)
}

/** The modes without Webhook. */
function modesOf(names: readonly string[]): AuthorizationMode[] {
  const known = [...authorizationModes, 'Webhook'] as const
  for (const [index, name] of names.entries()) {
    if (!known.some((mode) => mode === name)) {
      throw new UsageError(`--authorization-mode must be among ${known.join(', ')}, not "${name}"`)
    }
    if (names.indexOf(name) !== index) {
      throw new UsageError(`--authorization-mode has mode specified more than once: ${name}`)
    }
  }
  return authorizationModesIn(names)
}

function authorizationModesIn(names: readonly string[]): AuthorizationMode[] {
  return names.flatMap((name) => authorizationModes.find((mode) => mode === name) ?? [])
}

async function fromFile(path: string): Promise<ParsedAuthorization> {
  const flag = '--authorization-config'
  let text: string
  let authorizers: AuthorizerConfig[]
  try {
    text = await readFile(path, 'utf8')
    authorizers = parseAuthorizationConfig(parseYaml(text))
  } catch (error) {
    throw new UsageError(`${flag} ${path}: ${errorText(error)}`)
  }
  const modes = authorizationModesIn(authorizers.map(({ type }) => type))
  const connect = await webhookConnections(kubeConfigsOf(authorizers), flag)
  const parse = async (changed: string): Promise<readonly AuthorizerConfig[]> => {
    const next = parseAuthorizationConfig(parseYaml(changed), modes)
    const added = next.find(({ type }) => type !== 'Webhook' && !modes.some((mode) => mode === type))
    if (added && (added.type === 'Node' || added.type === 'RBAC')) {
      throw new CaughtError(
        `authorizer type ${added.type} is not allowed if it was not enabled at initial server startup`,
      )
    }
    await webhookConnections(kubeConfigsOf(next), flag)
    return next
  }
  return { modes, chain: { authorizers, connect, file: { path, text, parse } } }
}

function kubeConfigsOf(authorizers: readonly AuthorizerConfig[]): string[] {
  return authorizers.flatMap((one) => (one.type === 'Webhook' ? (one.webhook.kubeConfigFile ?? []) : []))
}

/** Checks that all kubeconfigs of webhooks can be used, and returns how to connect with one. Every file is read when it is first used. */
export async function webhookConnections(
  files: readonly string[],
  flag: string,
): Promise<AuthorizersConfig['connect']> {
  for (const file of files) {
    try {
      if (!(await stat(file)).isFile()) throw new CaughtError('must be a regular file')
      const { server } = await loadClientConfig({ kubeconfig: file })
      if (!URL.canParse(server)) throw new CaughtError(`the server must be a URL, not ${JSON.stringify(server)}`)
    } catch (error) {
      throw new UsageError(`${flag}: cannot use the kubeconfig ${file}: ${errorText(error)}`)
    }
  }
  return (file) => {
    let loading: ReturnType<typeof loadClientConfig> | undefined
    return async () => {
      loading ??= loadClientConfig({ kubeconfig: file })
      const { server, tls, credentials } = await loading
      return { url: server, tls: (await tls?.()) ?? {}, headers: (await credentials?.headers()) ?? {} }
    }
  }
}
