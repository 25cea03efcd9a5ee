import { X509Certificate } from 'node:crypto'
import { isDNS1035Label } from '@kubewright/base'
import { pemBlocks } from '@kubewright/base/pki'
import { type FieldError, type FieldPath, forbidden, invalid, required } from '@kubewright/schema'
import { validateWebhookClient } from '../../builtins/admissionregistration/webhook-configuration/validate-webhook-client.ts'
import { unsupported } from '../../builtins/checks/field-checks.ts'
import type { CrdConversion } from './crd.ts'

const reviewVersions = ['v1', 'v1beta1']

/** Invalid values that an update may keep, because the stored CRD has them. */
export interface ConversionLeniency {
  /** Whether no supported review version is required. */
  readonly anyReviewVersion: boolean
  /** Whether the CA bundle may be invalid. */
  readonly anyCaBundle: boolean
}

/** Whether the server supports one of the review versions, or none are listed. */
export function hasKnownReviewVersion({ webhook }: CrdConversion): boolean {
  const versions = webhook?.conversionReviewVersions ?? []
  return versions.length === 0 || versions.some((version) => reviewVersions.includes(version))
}

/** Validates the conversion between versions. */
export function validateConversion(
  conversion: CrdConversion | undefined,
  leniency: ConversionLeniency,
  path: FieldPath,
  errors: FieldError[],
): void {
  if (!conversion) return
  const { strategy = '', webhook } = conversion
  if (strategy === '') errors.push(required(path.child('strategy')))
  else if (strategy !== 'None' && strategy !== 'Webhook') {
    errors.push(unsupported(path.child('strategy'), strategy, ['None', 'Webhook']))
  }
  const clientPath = path.child('webhookClientConfig')
  const versionsPath = path.child('conversionReviewVersions')
  const { clientConfig, conversionReviewVersions: versions = [] } = webhook ?? {}
  if (strategy !== 'Webhook') {
    const text = 'should not be set when strategy is not set to Webhook'
    if (clientConfig) errors.push(forbidden(clientPath, text))
    if (versions.length > 0) errors.push(forbidden(versionsPath, text))
    return
  }
  if (clientConfig) {
    validateWebhookClient(clientConfig, clientPath, errors)
    const problem = leniency.anyCaBundle ? undefined : caBundleProblem(clientConfig.caBundle)
    if (problem !== undefined) errors.push(invalid(clientPath.child('caBundle'), clientConfig.caBundle, problem))
  } else errors.push(required(clientPath, 'required when strategy is set to Webhook'))
  validateReviewVersions(versions, leniency.anyReviewVersion, versionsPath, errors)
}

function validateReviewVersions(
  versions: readonly string[],
  anyVersion: boolean,
  path: FieldPath,
  errors: FieldError[],
): void {
  if (versions.length === 0) {
    errors.push(required(path))
    return
  }
  versions.forEach((version, i) => {
    if (versions.indexOf(version) < i) {
      errors.push(invalid(path.index(i), version, 'duplicate version'))
      return
    }
    for (const problem of isDNS1035Label(version)) errors.push(invalid(path.index(i), version, problem))
  })
  if (!anyVersion && !versions.some((version) => reviewVersions.includes(version))) {
    errors.push(invalid(path, versions, `must include at least one of ${reviewVersions.join(', ')}`))
  }
}

/** The problem of a CA bundle (PEM in base64); undefined when it is valid or empty. */
export function caBundleProblem(caBundle: string | undefined): string | undefined {
  if (!caBundle) return undefined
  const text = Buffer.from(caBundle, 'base64').toString('latin1')
  const blocks = [...pemBlocks(text)]
  const failure = 'unable to load root certificates: '
  if (blocks.length === 0) return `${failure}unable to parse bytes as PEM block`
  let usable = false
  for (const { label: type, text: block } of blocks) {
    if (type !== 'CERTIFICATE') continue
    try {
      new X509Certificate(block)
      usable = true
    } catch {
      if (!usable) return `${failure}failed to parse certificate: x509: malformed certificate`
    }
  }
  return usable ? undefined : `${failure}no valid certificate authority data seen`
}
