import { CaughtError } from '@kubewright/base'
import { CelError, CelList, type CelValue } from '@kubewright/cel'
import type { ClaimMapping, ClaimRule, JwtAuthenticatorConfig } from '../../config/authentication-config.ts'
import type { ConfigExpression } from '../../config/config-expression.ts'
import type { UserInfo } from '../../request/user-info.ts'
import { credentialIdKey } from '../authenticator.ts'
import { claimValue } from './claim-values.ts'
import type { Claims } from './claims.ts'

/**
 * Maps the claims of a verified token to a user and validates both, in the order and with the texts of
 * apiserver/plugin/pkg/authenticator/token/oidc. Throws if a claim or a rule refuses the token.
 */
export function userOfClaims(config: JwtAuthenticatorConfig, claims: Claims): UserInfo {
  const variables = { claims: claimValue(claims.json) }
  const name = nameOf(config.username, claims, variables)
  const groups = groupsOf(config.groups, claims, variables)
  const uid = uidOf(config.uid, claims, variables)
  const extra = extraOf(config.extra, claims, variables)
  for (const [claim, wanted] of config.requiredClaims) checkClaim(claims, claim, wanted)
  checkRules(config.claimRules, variables, 'claim validation expression')
  const user = { username: name, uid, groups, extra }
  checkRules(config.userRules, { user: claimValue(user) }, 'user info validation rule')
  return { name, groups, ...(uid === '' ? {} : { uid }), ...(Object.keys(extra).length === 0 ? {} : { extra }) }
}

type Variables = Readonly<Record<string, CelValue>>

function nameOf(mapping: ClaimMapping, claims: Claims, variables: Variables): string {
  if (mapping.claim === undefined) {
    const failed = 'oidc: error evaluating username claim expression: '
    const name = evaluate(mapping.expression, variables, failed)
    if (typeof name !== 'string') throw new CaughtError(`${failed}username claim expression must return a string`)
    if (name === '') throw new CaughtError('oidc: empty username via CEL expression is not allowed')
    return name
  }
  const { claim, prefix } = mapping
  const name = read(`parse username claims ${JSON.stringify(claim)}`, () => claims.string(claim))
  if (claim === 'email' && claims.has('email_verified')) {
    const isVerified = read(`parse 'email_verified' claim`, () => claims.boolean('email_verified'))
    if (!isVerified) throw new CaughtError('oidc: email not verified')
  }
  return prefix + name
}

function groupsOf(mapping: ClaimMapping | undefined, claims: Claims, variables: Variables): readonly string[] {
  if (!mapping) return []
  if (mapping.claim === undefined) {
    return stringsOf(mapping.expression, variables, 'oidc: error evaluating group claim expression: ')
  }
  const { claim, prefix } = mapping
  if (!claims.has(claim)) return []
  const groups = read(`parse groups claim ${JSON.stringify(claim)}`, () => claims.strings(claim))
  return groups.map((group) => prefix + group)
}

function uidOf(mapping: ClaimMapping | undefined, claims: Claims, variables: Variables): string {
  if (!mapping) return ''
  if (mapping.claim !== undefined) {
    const { claim } = mapping
    return read(`parse uid claim ${JSON.stringify(claim)}`, () => claims.string(claim))
  }
  const failed = 'oidc: error evaluating uid claim expression: '
  const uid = evaluate(mapping.expression, variables, failed)
  if (typeof uid !== 'string') throw new CaughtError(`${failed}uid claim expression must return a string`)
  return uid
}

function extraOf(
  mappings: JwtAuthenticatorConfig['extra'],
  claims: Claims,
  variables: Variables,
): Readonly<Record<string, readonly string[]>> {
  const extra: Record<string, readonly string[]> = {}
  const { jti } = claims.json
  if (typeof jti === 'string' && jti !== '') extra[credentialIdKey] = [`JTI=${jti}`]
  // All expressions are evaluated before any value is checked.
  const values = mappings.map((mapping) => evaluate(mapping, variables, ''))
  for (const [index, { key, expression }] of mappings.entries()) {
    const strings = checkedStrings(values[index]!, `oidc: error evaluating extra claim expression: ${expression}: `)
    if (strings.length > 0) extra[key] = strings
  }
  return Object.fromEntries(Object.entries(extra).sort(([a], [b]) => (a < b ? -1 : 1)))
}

function checkClaim(claims: Claims, claim: string, wanted: string): void {
  if (!claims.has(claim)) throw new CaughtError(`oidc: required claim ${claim} not present in ID token`)
  const value = read(`parse claim ${claim}`, () => claims.string(claim))
  if (value === wanted) return
  throw new CaughtError(`oidc: required claim ${claim} value does not match. Got = ${value}, want = ${wanted}`)
}

function checkRules(rules: readonly ClaimRule[], variables: Variables, what: string): void {
  const failed = `oidc: error evaluating ${what}: `
  const results = rules.map((rule) => evaluate(rule, variables, failed))
  for (const [index, { expression, message }] of rules.entries()) {
    if (typeof results[index] !== 'boolean')
      throw new CaughtError(`${failed}validation expression must return a boolean`)
    if (!results[index]) throw new CaughtError(`${failed}validation expression '${expression}' failed: ${message}`)
  }
}

function stringsOf(expression: ConfigExpression, variables: Variables, failed: string): readonly string[] {
  return checkedStrings(evaluate(expression, variables, failed), failed)
}

/** A string or a list of strings, without empty ones; null is an empty list. */
function checkedStrings(value: CelValue, failed: string): readonly string[] {
  const list = value === null ? [] : value instanceof CelList ? value.toArray() : [value]
  if (!list.every((item) => typeof item === 'string')) {
    throw new CaughtError(`${failed}expression must return a string or a list of strings`)
  }
  return (list as readonly string[]).filter((item) => item !== '')
}

function evaluate({ expression, program }: ConfigExpression, variables: Variables, failed: string): CelValue {
  try {
    return program.evaluate(variables)
  } catch (error) {
    if (!(error instanceof CelError)) throw error
    throw new CaughtError(`${failed}expression '${expression}' resulted in error: ${error.message}`, { cause: error })
  }
}

function read<T>(what: string, value: () => T): T {
  try {
    return value()
  } catch (error) {
    throw new CaughtError(`oidc: ${what}: ${(error as Error).message}`, { cause: error })
  }
}
