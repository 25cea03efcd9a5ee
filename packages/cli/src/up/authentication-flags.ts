import { defineFlags, UsageError } from '@kubewright/base'
import { millisOf } from './authorization-flags.ts'

const section = 'Authentication, as in kube-apiserver'

/** The flags of `up` for users of other identity providers: see docs/guides/authentication.md. */
export const authenticationFlags = defineFlags({
  'oidc-issuer-url': {
    section,
    value: 'URL',
    help: 'Accept the ID tokens of this OpenID Connect issuer; the scheme must be https',
  },
  'oidc-client-id': {
    section,
    value: 'ID',
    help: 'The audience that ID tokens must have; required with --oidc-issuer-url',
  },
  'oidc-ca-file': {
    section,
    value: 'FILE',
    complete: 'files',
    defaultText: 'the CAs of the system',
    help: 'Trust these CAs for the server of the issuer',
  },
  'oidc-username-claim': {
    section,
    value: 'CLAIM',
    defaultText: 'sub',
    help: 'The claim that contains the user name',
  },
  'oidc-username-prefix': {
    section,
    value: 'TEXT',
    defaultText: 'the issuer URL and "#", or nothing for the claim email',
    help: 'Prepend this to user names; - prepends nothing',
  },
  'oidc-groups-claim': {
    section,
    value: 'CLAIM',
    help: 'The claim that contains the groups of the user, a text or a list of texts',
  },
  'oidc-groups-prefix': { section, value: 'TEXT', help: 'Prepend this to groups' },
  'oidc-required-claim': {
    section,
    value: 'CLAIM=VALUE',
    repeatable: true,
    parse: requiredClaimOf,
    help: 'Accept only tokens that have this claim with this value; may be given several times',
  },
  'oidc-signing-algs': {
    section,
    value: 'NAMES',
    defaultText: 'RS256',
    help: 'Accept these signature algorithms: RS256, RS384, RS512, ES256, ES384, ES512, PS256, PS384, PS512',
  },
  'authentication-config': {
    section,
    value: 'FILE',
    complete: 'files',
    help: 'Read issuers and anonymous access from this AuthenticationConfiguration, and again whenever it changes; excludes --oidc-*',
  },
  'authentication-token-webhook-config-file': {
    section,
    value: 'FILE',
    complete: 'files',
    help: 'Ask the webhook of this kubeconfig about bearer tokens that nothing else accepts',
  },
  'authentication-token-webhook-version': {
    section,
    value: 'VERSION',
    choices: ['v1beta1', 'v1'],
    default: 'v1beta1',
    help: 'Send TokenReviews of this version to the webhook',
  },
  'authentication-token-webhook-cache-ttl': {
    section,
    value: 'DURATION',
    default: '2m',
    parse: millisOf,
    help: 'Reuse results of the webhook for this long; 0s asks every time',
  },
})

function requiredClaimOf(text: string, flag: string): readonly [claim: string, value: string] {
  const at = text.indexOf('=')
  if (at < 0) throw new UsageError(`${flag} must be CLAIM=VALUE, not "${text}"`)
  return [text.slice(0, at).trim(), text.slice(at + 1).trim()]
}
