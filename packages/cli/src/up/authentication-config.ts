import { readFile } from 'node:fs/promises'
import { parseYaml } from '@kubewright/api'
import { CaughtError, errorText, type FlagValues, UsageError } from '@kubewright/base'
import type { JwtConfig } from '@kubewright/controlplane'
import {
  type AnonymousAccess,
  type AuthenticationConfig,
  type JwtAuthenticatorConfig,
  parseAuthenticationConfig,
  type SigningAlgorithm,
  signingAlgorithms,
} from '@kubewright/server'
import type { authenticationFlags } from './authentication-flags.ts'

/** The flag `--anonymous-auth` as given. */
type AnonymousFlag = boolean | undefined

/** The default issuer of this server's own tokens. */
const defaultOwnIssuer = 'https://kubernetes.default.svc'

/**
 * Derives the issuers of ID tokens and anonymous access from flags and from the file that they name. Throws {@link UsageError} for values that
 * kube-apiserver refuses, with its texts.
 */
export async function authenticationConfig(
  values: FlagValues<typeof authenticationFlags>,
  anonymousFlag: AnonymousFlag,
  ownIssuer = defaultOwnIssuer,
): Promise<{ readonly jwt?: JwtConfig | undefined; readonly anonymous: AnonymousAccess }> {
  // The tokens of this server have an authenticator of their own.
  const disallowedIssuers = [ownIssuer]
  const path = values['authentication-config']
  if (path !== undefined) return fromFile(path, values, anonymousFlag, disallowedIssuers)
  const anonymous = anonymousFlag ?? true
  if (!hasOidcFlag(values)) return { anonymous }
  return { jwt: await fromFlags(values, disallowedIssuers), anonymous }
}

function hasOidcFlag(values: FlagValues<typeof authenticationFlags>): boolean {
  return Object.entries(values).some(
    ([name, value]) => name.startsWith('oidc-') && value !== undefined && !(Array.isArray(value) && value.length === 0),
  )
}

async function fromFlags(
  values: FlagValues<typeof authenticationFlags>,
  disallowedIssuers: readonly string[],
): Promise<JwtConfig> {
  const { 'oidc-issuer-url': url, 'oidc-client-id': clientId, 'oidc-ca-file': caFile } = values
  if (!url || !clientId) {
    throw new UsageError('oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set')
  }
  const claim = values['oidc-username-claim'] || 'sub'
  const groupsClaim = values['oidc-groups-claim']
  const config = {
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'AuthenticationConfiguration',
    jwt: [
      {
        issuer: {
          url,
          audiences: [clientId],
          ...(caFile === undefined ? {} : { certificateAuthority: await textIn('--oidc-ca-file', caFile) }),
        },
        claimMappings: {
          username: { claim, prefix: usernamePrefix(values['oidc-username-prefix'] ?? '', claim, url) },
          ...(groupsClaim ? { groups: { claim: groupsClaim, prefix: values['oidc-groups-prefix'] ?? '' } } : {}),
        },
        claimValidationRules: [...new Map(values['oidc-required-claim'])].map(([name, requiredValue]) => ({
          claim: name,
          requiredValue,
        })),
      },
    ],
  }
  return { issuers: checked(config, disallowedIssuers).jwt, algorithms: algorithmsOf(values['oidc-signing-algs']) }
}

/** As kube-apiserver: without a prefix, user names of claims other than email begin with the issuer. */
function usernamePrefix(prefix: string, claim: string, issuer: string): string {
  if (prefix === '' && claim !== 'email') return `${issuer}#`
  return prefix === '-' ? '' : prefix
}

function algorithmsOf(text: string | undefined): SigningAlgorithm[] {
  const names = text ? text.split(',').map((name) => name.trim()) : ['RS256']
  return names.map((name) => {
    const algorithm = signingAlgorithms.find((known) => known === name)
    if (algorithm) return algorithm
    throw new UsageError(`--oidc-signing-algs: oidc: unsupported signing alg: ${JSON.stringify(name)}`)
  })
}

async function fromFile(
  path: string,
  values: FlagValues<typeof authenticationFlags>,
  anonymousFlag: AnonymousFlag,
  disallowedIssuers: readonly string[],
): Promise<{ readonly jwt: JwtConfig; readonly anonymous: AnonymousAccess }> {
  if (hasOidcFlag(values)) throw new UsageError('authentication-config file and oidc-* flags are mutually exclusive')
  const text = await textIn('--authentication-config', path)
  let config: AuthenticationConfig
  try {
    config = parsed(text, disallowedIssuers)
  } catch (error) {
    throw new UsageError(
      `failed to load authentication configuration from file ${JSON.stringify(path)}: ${errorText(error)}`,
    )
  }
  const { jwt, anonymous } = config
  if (anonymous && anonymousFlag !== undefined) {
    throw new UsageError(
      'anonymous: Forbidden: --anonymous-auth flag cannot be set when anonymous field is configured in authentication configuration file',
    )
  }
  const parse = (changed: string): readonly JwtAuthenticatorConfig[] => {
    const next = parsed(changed, disallowedIssuers)
    if (JSON.stringify(next.anonymous) !== JSON.stringify(anonymous)) {
      throw new CaughtError('anonymous: Forbidden: changed from initial configuration file')
    }
    return next.jwt
  }
  return {
    jwt: { issuers: jwt, file: { path, text, parse } },
    anonymous: anonymous ? anonymousAccess(anonymous) : (anonymousFlag ?? true),
  }
}

function anonymousAccess({ enabled, paths }: NonNullable<AuthenticationConfig['anonymous']>): AnonymousAccess {
  return paths.length === 0 ? enabled : (path) => paths.includes(path)
}

function parsed(text: string, disallowedIssuers: readonly string[]): AuthenticationConfig {
  if (text === '') throw new CaughtError('empty config data')
  return parseAuthenticationConfig(parseYaml(text), { disallowedIssuers })
}

function checked(config: unknown, disallowedIssuers: readonly string[]): AuthenticationConfig {
  try {
    return parseAuthenticationConfig(config, { disallowedIssuers })
  } catch (error) {
    throw new UsageError(`invalid authentication configuration: ${errorText(error)}`)
  }
}

async function textIn(flag: string, file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw new UsageError(`${flag}: cannot read ${file}: ${errorText(error)}`)
  }
}
