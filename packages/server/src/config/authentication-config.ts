import { X509Certificate } from 'node:crypto'
import { goQuote, isDomainPrefixedPath, KubewrightError } from '@kubewright/base'
import { mappingExpression, validationExpression } from './claim-expressions.ts'
import type { ConfigExpression } from './config-expression.ts'
import { ConfigFields, ConfigProblems } from './config-fields.ts'

/** An issuer of JSON Web Tokens. */
export interface JwtIssuer {
  readonly url: string
  /** Where the discovery document is, if not below the URL. */
  readonly discoveryUrl: string
  /** PEM of the CAs of the issuer's server; empty for the CAs of the system. */
  readonly certificateAuthority: string
  /** A token must have one of them. Not empty. */
  readonly audiences: readonly string[]
  /** `controlplane` or `cluster`; empty for a direct connection. */
  readonly egressSelectorType: string
}

/** The claim or the expression that a part of the user comes from. */
export type ClaimMapping =
  | { readonly claim: string; readonly prefix: string }
  | { readonly claim?: never; readonly expression: ConfigExpression }

/** A rule that claims or users must satisfy. */
export interface ClaimRule extends ConfigExpression {
  readonly message: string
}

/** How the tokens of one issuer authenticate users. */
export interface JwtAuthenticatorConfig {
  readonly issuer: JwtIssuer
  /** Claims that must have these values. */
  readonly requiredClaims: ReadonlyMap<string, string>
  readonly claimRules: readonly ClaimRule[]
  readonly username: ClaimMapping
  readonly groups?: ClaimMapping | undefined
  readonly uid?: ClaimMapping | undefined
  readonly extra: readonly (ConfigExpression & { readonly key: string })[]
  readonly userRules: readonly ClaimRule[]
}

/** The `anonymous` section: without conditions, it applies to all paths. */
export interface AnonymousConfig {
  readonly enabled: boolean
  readonly paths: readonly string[]
}

/** An AuthenticationConfiguration. */
export interface AuthenticationConfig {
  readonly jwt: readonly JwtAuthenticatorConfig[]
  /** Undefined if the file has no such section. */
  readonly anonymous?: AnonymousConfig | undefined
}

/** Options of {@link parseAuthenticationConfig}. */
export interface AuthenticationConfigOptions {
  /** Issuers that the server has an authenticator for already, such as its own. @default none */
  readonly disallowedIssuers?: readonly string[] | undefined
}

const versions = ['v1', 'v1beta1', 'v1alpha1'].map((version) => `apiserver.config.k8s.io/${version}`)
const maxAuthenticators = 64
const bothSet = `claim and expression can't both be set`
const emailRule =
  'claims.email_verified must be used in claimMappings.username.expression or claimMappings.extra[*].valueExpression or ' +
  'claimValidationRules[*].expression when claims.email is used in claimMappings.username.expression'

/**
 * Parses an AuthenticationConfiguration of apiserver.config.k8s.io and compiles its expressions; the checks are those of
 * apiserver/pkg/apis/apiserver/validation/validation.go. Throws an Error that names all wrong fields.
 */
export function parseAuthenticationConfig(
  value: unknown,
  { disallowedIssuers = [] }: AuthenticationConfigOptions = {},
): AuthenticationConfig {
  const problems = new ConfigProblems()
  const fields = new ConfigFields(value, '', problems)
  const [apiVersion, kind] = [fields.string('apiVersion') ?? '', fields.string('kind') ?? '']
  if (!versions.includes(apiVersion) || kind !== 'AuthenticationConfiguration') {
    throw new KubewrightError(
      'KW_SERVER_CONFIG',
      `no kind ${goQuote(kind)} is registered for version ${goQuote(apiVersion)}`,
    )
  }
  const entries = fields.objects('jwt')
  if (entries.length > maxAuthenticators) {
    throw new KubewrightError(
      'KW_SERVER_CONFIG',
      `jwt: Too many: ${entries.length}: must have at most ${maxAuthenticators} items`,
    )
  }
  const [issuers, discoveryUrls] = [new Set<string>(), new Set<string>()]
  const jwt = entries.map((entry) => {
    const parsed = authenticatorOf(entry, disallowedIssuers)
    const { url, discoveryUrl } = parsed.issuer
    if (issuers.has(url)) entry.duplicate('issuer.url', url)
    issuers.add(url)
    if (discoveryUrls.has(discoveryUrl)) entry.duplicate('issuer.discoveryURL', discoveryUrl)
    if (discoveryUrl !== '') discoveryUrls.add(discoveryUrl)
    return parsed
  })
  const section = fields.object('anonymous')
  const anonymous = section && anonymousOf(section)
  fields.done()
  problems.throwAny()
  return { jwt, anonymous }
}

function anonymousOf(fields: ConfigFields): AnonymousConfig {
  const enabled = fields.boolean('enabled') ?? false
  const conditions = fields.objects('conditions')
  const paths = conditions.map((condition) => {
    const path = condition.string('path') ?? ''
    condition.done()
    return path
  })
  if (!enabled && paths.length > 0) {
    const value = paths.map((path) => ({ Path: path }))
    fields.invalid('conditions', value, 'enabled should be set to true when conditions are defined')
  }
  fields.done()
  return { enabled, paths }
}

function authenticatorOf(fields: ConfigFields, disallowedIssuers: readonly string[]): JwtAuthenticatorConfig {
  const issuer = issuerOf(fields.object('issuer') ?? new ConfigFields({}, fields.at('issuer'), fields.problems), {
    disallowedIssuers,
  })
  const { requiredClaims, claimRules } = claimRulesOf(fields)
  const mappings = fields.object('claimMappings') ?? new ConfigFields({}, fields.at('claimMappings'), fields.problems)
  const { username, groups } = {
    username: mappingOf(mappings, 'username', true),
    groups: mappingOf(mappings, 'groups', false),
  }
  const uid = uidOf(mappings)
  const extra = mappings.objects('extra')
  const extraMappings = extraOf(extra)
  mappings.done()
  const verifying = [username?.expression, ...extraMappings, ...claimRules]
  if (
    username?.expression?.program.selects('claims', 'email') &&
    !verifying.some((rule) => rule?.program.selects('claims', 'email_verified'))
  ) {
    mappings.invalid('username.expression', username.expression.expression, emailRule)
  }
  const userRules = userRulesOf(fields)
  fields.done()
  return {
    issuer,
    requiredClaims,
    claimRules,
    // An absent user name is an error that has been reported.
    username: mapped(username) ?? { claim: '', prefix: '' },
    groups: mapped(groups),
    uid,
    extra: extraMappings,
    userRules,
  }
}

function issuerOf(
  fields: ConfigFields,
  { disallowedIssuers }: { readonly disallowedIssuers: readonly string[] },
): JwtIssuer {
  const url = fields.string('url') ?? ''
  const discoveryUrl = fields.string('discoveryURL') ?? ''
  const certificateAuthority = fields.string('certificateAuthority') ?? ''
  const audiences = fields.strings('audiences')
  const policy = fields.string('audienceMatchPolicy') ?? ''
  const egressSelectorType = fields.string('egressSelectorType') ?? ''
  if (url === '') fields.required('url')
  else checkUrl(fields, 'url', url, disallowedIssuers)
  if (discoveryUrl !== '') {
    if (url !== '' && withoutSlashes(url) === withoutSlashes(discoveryUrl)) {
      fields.invalid('discoveryURL', discoveryUrl, 'discoveryURL must be different from URL')
    }
    checkUrl(fields, 'discoveryURL', discoveryUrl, [])
  }
  checkAudiences(fields, audiences, policy)
  if (certificateAuthority !== '') checkAuthority(fields, certificateAuthority)
  if (egressSelectorType !== '' && egressSelectorType !== 'controlplane' && egressSelectorType !== 'cluster') {
    const why = 'egress selector must be either controlplane or cluster'
    fields.invalid('egressSelectorType', egressSelectorType, why)
  }
  fields.done()
  return { url, discoveryUrl, certificateAuthority, audiences, egressSelectorType }
}

function withoutSlashes(text: string): string {
  return text.replace(/\/+$/, '')
}

/** Scheme, authority, query and fragment of a URL (RFC 3986, appendix B). */
const urlPattern = /^(?:([^:/?#]+):)?(?:\/\/([^/?#]*))?[^?#]*(?:\?([^#]*))?(?:#(.*))?$/

function checkUrl(fields: ConfigFields, name: string, url: string, disallowed: readonly string[]): void {
  if (disallowed.includes(url)) {
    const list = `[${[...disallowed].sort().join(' ')}]`
    fields.invalid(name, url, `URL must not overlap with disallowed issuers: ${list}`)
  }
  const [, scheme = '', authority = '', query = '', fragment = ''] = urlPattern.exec(url) ?? []
  if (scheme.toLowerCase() !== 'https') fields.invalid(name, url, 'URL scheme must be https')
  else if (!URL.canParse(url)) fields.invalid(name, url, `parse ${goQuote(url)}: invalid URL`)
  if (authority.includes('@')) fields.invalid(name, url, 'URL must not contain a username or password')
  if (query !== '') fields.invalid(name, url, 'URL must not contain a query')
  if (fragment !== '') fields.invalid(name, url, 'URL must not contain a fragment')
}

function checkAudiences(fields: ConfigFields, audiences: readonly string[], policy: string): void {
  if (audiences.length === 0) {
    fields.required('audiences', `at least one ${fields.at('audiences')} is required`)
    return
  }
  const seen = new Set<string>()
  for (const [index, audience] of audiences.entries()) {
    if (audience === '') fields.required(`audiences[${index}]`)
    if (seen.has(audience)) fields.duplicate(`audiences[${index}]`, audience)
    seen.add(audience)
  }
  if (audiences.length > 1 && policy !== 'MatchAny') {
    fields.invalid('audienceMatchPolicy', policy, 'audienceMatchPolicy must be MatchAny for multiple audiences')
  }
  if (audiences.length === 1 && policy !== '' && policy !== 'MatchAny') {
    const why = 'audienceMatchPolicy must be empty or MatchAny for single audience'
    fields.invalid('audienceMatchPolicy', policy, why)
  }
}

/** Fails for PEM without certificates, and if one of them cannot be parsed (client-go/util/cert/pem.go). */
function checkAuthority(fields: ConfigFields, pem: string): void {
  const omitted = '<omitted>'
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? []
  if (blocks.length === 0) {
    fields.invalid('certificateAuthority', omitted, 'data does not contain any valid RSA or ECDSA certificates')
  }
  for (const block of blocks) {
    try {
      new X509Certificate(block)
    } catch {
      fields.invalid('certificateAuthority', omitted, 'x509: malformed certificate')
    }
  }
}

function claimRulesOf(fields: ConfigFields): Pick<JwtAuthenticatorConfig, 'requiredClaims' | 'claimRules'> {
  const requiredClaims = new Map<string, string>()
  const claimRules: ClaimRule[] = []
  const expressions = new Set<string>()
  for (const rule of fields.objects('claimValidationRules')) {
    const [claim, requiredValue] = [rule.string('claim') ?? '', rule.string('requiredValue') ?? '']
    const [expression, message] = [rule.string('expression') ?? '', rule.string('message') ?? '']
    rule.done()
    if (claim !== '' && expression !== '') rule.invalid('', claim, bothSet)
    else if (claim === '' && expression === '') rule.required('', 'claim or expression is required')
    else if (claim !== '') {
      if (message !== '') rule.invalid('message', message, 'may not be specified when claim is set')
      if (requiredClaims.has(claim)) rule.duplicate('claim', claim)
      requiredClaims.set(claim, requiredValue)
    } else {
      if (requiredValue !== '') {
        rule.invalid('requiredValue', requiredValue, 'may not be specified when expression is set')
      }
      if (expressions.has(expression)) rule.duplicate('expression', expression)
      else {
        expressions.add(expression)
        const compiled = validationExpression(rule, 'expression', expression, 'claims')
        if (compiled) claimRules.push({ ...compiled, message })
      }
    }
  }
  return { requiredClaims, claimRules }
}

interface ParsedMapping {
  readonly claim: string
  readonly prefix: string
  readonly expression?: ConfigExpression | undefined
}

function mappingOf(mappings: ConfigFields, name: string, isRequired: boolean): ParsedMapping | undefined {
  const fields = mappings.object(name)
  const [claim, expression] = [fields?.string('claim') ?? '', fields?.string('expression') ?? '']
  const prefix = fields?.string('prefix')
  fields?.done()
  if (claim !== '' && expression !== '') {
    mappings.invalid(name, '', bothSet)
    return undefined
  }
  if (claim === '' && expression === '') {
    if (isRequired) mappings.required(name, 'claim or expression is required')
    return undefined
  }
  if (claim === '') {
    if (prefix !== undefined) mappings.invalid(`${name}.prefix`, prefix, 'may not be specified when expression is set')
    const compiled = mappingExpression(mappings, `${name}.expression`, expression)
    return compiled && { claim, prefix: '', expression: compiled }
  }
  if (prefix === undefined) {
    const why = 'prefix is required when claim is set. It can be set to an empty string to disable prefixing'
    mappings.required(`${name}.prefix`, why)
  }
  return { claim, prefix: prefix ?? '' }
}

function mapped(parsed: ParsedMapping | undefined): ClaimMapping | undefined {
  if (!parsed) return undefined
  const { claim, prefix, expression } = parsed
  return expression ? { expression } : { claim, prefix }
}

function uidOf(mappings: ConfigFields): ClaimMapping | undefined {
  const fields = mappings.object('uid')
  const [claim, expression] = [fields?.string('claim') ?? '', fields?.string('expression') ?? '']
  fields?.done()
  if (claim !== '' && expression !== '') mappings.invalid('uid', '', bothSet)
  else if (expression !== '') {
    const compiled = mappingExpression(mappings, 'uid.expression', expression)
    return compiled && { expression: compiled }
  }
  return claim === '' ? undefined : { claim, prefix: '' }
}

function extraOf(entries: readonly ConfigFields[]): JwtAuthenticatorConfig['extra'] {
  const seen = new Set<string>()
  const extra: JwtAuthenticatorConfig['extra'][number][] = []
  for (const fields of entries) {
    const [key, expression] = [fields.string('key') ?? '', fields.string('valueExpression') ?? '']
    fields.done()
    if (key === '') fields.required('key')
    else for (const problem of isDomainPrefixedPath(key)) fields.invalid('key', key, problem)
    if (key !== key.toLowerCase()) fields.invalid('key', key, 'must be lowercase')
    if (/^([^/]*\.)?(kubernetes|k8s)\.io\//.test(key)) {
      const why = 'k8s.io, kubernetes.io and their subdomains are reserved for Kubernetes use'
      fields.invalid('key', key, why)
    }
    if (seen.has(key)) {
      fields.duplicate('key', key)
      continue
    }
    seen.add(key)
    if (expression === '') {
      fields.required('valueExpression')
      continue
    }
    const compiled = mappingExpression(fields, 'valueExpression', expression)
    if (compiled) extra.push({ ...compiled, key })
  }
  return extra
}

function userRulesOf(fields: ConfigFields): ClaimRule[] {
  const seen = new Set<string>()
  const rules: ClaimRule[] = []
  for (const rule of fields.objects('userValidationRules')) {
    const [expression, message] = [rule.string('expression') ?? '', rule.string('message') ?? '']
    rule.done()
    if (expression === '') rule.required('expression')
    else if (seen.has(expression)) rule.duplicate('expression', expression)
    else {
      seen.add(expression)
      const compiled = validationExpression(rule, 'expression', expression, 'user')
      if (compiled) rules.push({ ...compiled, message })
    }
  }
  return rules
}
