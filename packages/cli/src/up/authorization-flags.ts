import { defineFlags, parseDuration, UsageError } from '@kubewright/base'

const section = 'Authorization, as in kube-apiserver'

/** The flags of `up` for authorization webhooks: see docs/guides/authorization-webhooks.md. */
export const authorizationFlags = defineFlags({
  'authorization-webhook-config-file': {
    section,
    value: 'FILE',
    complete: 'files',
    help: 'Ask the webhook of this kubeconfig in the authorization mode Webhook',
  },
  'authorization-webhook-version': {
    section,
    value: 'VERSION',
    defaultText: 'v1beta1',
    help: 'Send SubjectAccessReviews of this version to the webhook: v1 or v1beta1',
  },
  'authorization-webhook-cache-authorized-ttl': {
    section,
    value: 'DURATION',
    defaultText: '5m',
    parse: millisOf,
    help: 'Reuse decisions of the webhook that allow a request for this long; 0s asks every time',
  },
  'authorization-webhook-cache-unauthorized-ttl': {
    section,
    value: 'DURATION',
    defaultText: '30s',
    parse: millisOf,
    help: 'Reuse other decisions of the webhook for this long; 0s asks every time',
  },
  'authorization-config': {
    section,
    value: 'FILE',
    complete: 'files',
    help: 'Read the authorizers from this AuthorizationConfiguration, and again whenever it changes; excludes --authorization-mode and --authorization-webhook-*',
  },
})

/** Parses a duration to milliseconds. */
export function millisOf(text: string, flag: string): number {
  try {
    return Number(parseDuration(text)) / 1e6
  } catch {
    throw new UsageError(`${flag} must be a duration such as 30s or 5m, not "${text}"`)
  }
}
