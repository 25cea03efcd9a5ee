import { X509Certificate } from 'node:crypto'
import { append, goQuote, isDNS1123Label, isDNS1123Subdomain } from '@kubewright/base'
import { checkCertificateRequest, fromPem, parseCertificateRequest } from '@kubewright/base/pki'
import { duplicate, type FieldError, FieldPath, forbidden, invalid, required, tooLong } from '@kubewright/schema'
import type { MutableObject } from '../../../resource/object.ts'
import { semanticEqual } from '../../../resource/semantic-equal.ts'
import { unsupported } from '../../checks/field-checks.ts'

/** A condition of a CertificateSigningRequest. */
export interface RequestCondition {
  type?: string | undefined
  status?: string | undefined
  reason?: string | undefined
  message?: string | undefined
  lastUpdateTime?: string | null | undefined
  lastTransitionTime?: string | null | undefined
}

/** The fields of a CertificateSigningRequest that validation reads. Bytes are base64. */
export interface RequestParts {
  readonly spec: {
    readonly request?: string | null | undefined
    readonly signerName?: string | undefined
    readonly usages?: readonly string[] | null | undefined
    readonly expirationSeconds?: number | undefined
  }
  readonly status: {
    readonly conditions?: readonly RequestCondition[] | null | undefined
    readonly certificate?: string | null | undefined
  }
}

/** The parts of the status that an endpoint may change. */
export interface RequestUpdate {
  readonly approval?: boolean | undefined
  readonly certificate?: boolean | undefined
}

const usages: readonly string[] = [
  'any',
  'cert sign',
  'client auth',
  'code signing',
  'content commitment',
  'crl sign',
  'data encipherment',
  'decipher only',
  'digital signature',
  'email protection',
  'encipher only',
  'ipsec end system',
  'ipsec tunnel',
  'ipsec user',
  'key agreement',
  'key encipherment',
  'microsoft sgc',
  'netscape sgc',
  'ocsp signing',
  's/mime',
  'server auth',
  'signing',
  'timestamping',
]
const legacySigner = 'kubernetes.io/legacy-unknown'
const specPath = FieldPath.of('spec')
const conditionsPath = FieldPath.of('status', 'conditions')
const certificatePath = FieldPath.of('status', 'certificate')
const onlyTrue = ['Approved', 'Denied', 'Failed']

/** The spec and the status of an object. Missing ones are empty. */
export function partsOf(object: MutableObject): RequestParts {
  return {
    spec: (object['spec'] ?? {}) as RequestParts['spec'],
    status: (object['status'] ?? {}) as RequestParts['status'],
  }
}

/** The PEM text of the certificate request. */
export function requestPem({ spec }: RequestParts): string {
  return Buffer.from(spec.request ?? '', 'base64').toString('latin1')
}

/** Checks a request (pkg/apis/certificates/validation). Values of `old` that are invalid may stay. */
export function validateSigningRequest(object: MutableObject, old?: MutableObject): FieldError[] {
  const parts = partsOf(object)
  const before = old && partsOf(old)
  return [...validateSpec(parts, before), ...validateConditions(parts, before), ...validateCertificate(parts, before)]
}

function validateSpec(parts: RequestParts, before: RequestParts | undefined): FieldError[] {
  const { spec } = parts
  const errors: FieldError[] = []
  try {
    checkCertificateRequest(parseCertificateRequest(requestPem(parts)))
  } catch (error) {
    errors.push(invalid(specPath.child('request'), spec.request || null, (error as Error).message))
  }
  const requested = spec.usages ?? []
  const known = before?.spec.usages ?? []
  if (requested.length === 0) errors.push(required(specPath.child('usages')))
  if (!known.some((usage) => !usages.includes(usage))) {
    for (const [i, usage] of requested.entries()) {
      if (!usages.includes(usage)) errors.push(unsupported(specPath.child('usages').index(i), usage, usages))
    }
  }
  if (new Set(known).size === known.length) {
    const seen = new Set<string>()
    for (const [i, usage] of requested.entries()) {
      if (seen.has(usage)) errors.push(duplicate(specPath.child('usages').index(i), usage))
      seen.add(usage)
    }
  }
  const signer = spec.signerName ?? ''
  const path = specPath.child('signerName')
  if (signer === legacySigner && before?.spec.signerName !== legacySigner) {
    errors.push(invalid(path, signer, 'the legacy signerName is not allowed via this API version'))
  } else append(errors, validateSignerName(path, signer))
  if (spec.expirationSeconds !== undefined && spec.expirationSeconds < 600) {
    const text = 'may not specify a duration less than 600 seconds (10 minutes)'
    errors.push(invalid(specPath.child('expirationSeconds'), spec.expirationSeconds, text))
  }
  return errors
}

/** Checks the name of a signer: a domain with at least two labels, a slash and a path of labels. */
export function validateSignerName(path: FieldPath, name: string): FieldError[] {
  if (name === '') return [required(path)]
  const [domain = '', rest = '', ...more] = name.split('/')
  if (!name.includes('/') || more.length > 0) {
    return [invalid(path, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'")]
  }
  const errors: FieldError[] = []
  if (domain.length > 253) errors.push(tooLong(path, 253))
  const labels = domain.split('.')
  // Only the first invalid label is reported, because the errors would be equal.
  const badLabel = labels.find((label) => isDNS1123Label(label).length > 0)
  if (badLabel !== undefined) {
    for (const text of isDNS1123Label(badLabel))
      errors.push(invalid(path, domain, `validating label ${goQuote(badLabel)}: ${text}`))
  }
  if (labels.length < 2)
    errors.push(invalid(path, domain, 'should be a domain with at least two segments separated by dots'))
  const badPart = rest.split('.').find((label) => isDNS1123Subdomain(label).length > 0)
  if (badPart !== undefined) {
    for (const text of isDNS1123Subdomain(badPart))
      errors.push(invalid(path, rest, `validating label ${goQuote(badPart)}: ${text}`))
  }
  const longest = 253 + (253 + 63 + 1) + 1
  if (name.length > longest) errors.push(tooLong(path, longest))
  return errors
}

function validateConditions({ status }: RequestParts, before: RequestParts | undefined): FieldError[] {
  const errors: FieldError[] = []
  const types = (before?.status.conditions ?? []).map(({ type = '' }) => type)
  const tolerate = {
    both: types.includes('Approved') && types.includes('Denied'),
    twice: new Set(types).size < types.length,
    empty: types.includes(''),
  }
  const seen = new Set<string>()
  for (const [i, { type = '', status: value = '' }] of (status.conditions ?? []).entries()) {
    const path = conditionsPath.index(i)
    if (type === '' && !tolerate.empty) errors.push(required(path.child('type')))
    const allowed = onlyTrue.includes(type) ? ['True'] : ['False', 'True', 'Unknown']
    if (value === '') errors.push(required(path.child('status')))
    else if (!allowed.includes(value)) errors.push(unsupported(path.child('status'), value, allowed))
    const contrary = type === 'Approved' ? 'Denied' : type === 'Denied' ? 'Approved' : undefined
    if (contrary !== undefined && seen.has(contrary) && !tolerate.both) {
      errors.push(invalid(conditionsPath, type, 'Approved and Denied conditions are mutually exclusive'))
    }
    if (seen.has(type) && !tolerate.twice) errors.push(duplicate(path.child('type'), type))
    seen.add(type)
  }
  return errors
}

function validateCertificate({ status }: RequestParts, before: RequestParts | undefined): FieldError[] {
  const encoded = status.certificate ?? ''
  if (encoded === '' || encoded === before?.status.certificate) return []
  const problem = problemOfChain(Buffer.from(encoded, 'base64').toString('latin1'))
  return problem === undefined ? [] : [invalid(certificatePath, '<certificate data>', problem)]
}

/** Returns the problem of a PEM certificate chain; undefined if it is valid. */
function problemOfChain(text: string): string | undefined {
  let rest = text
  let blocks = 0
  for (let block = fromPem(rest); block; block = fromPem(rest)) {
    if (block.label !== 'CERTIFICATE') return `only CERTIFICATE PEM blocks are allowed, found ${goQuote(block.label)}`
    blocks++
    try {
      new X509Certificate(block.bytes)
    } catch {
      return 'x509: malformed certificate'
    }
    rest = block.rest
  }
  return blocks === 0 ? 'must contain at least one CERTIFICATE PEM block' : undefined
}

/** Checks that an update keeps decisions, and that each endpoint changes only its part of the status. */
export function validateSigningRequestUpdate(
  object: MutableObject,
  old: MutableObject,
  may: RequestUpdate,
): FieldError[] {
  const errors: FieldError[] = []
  const [now, before] = [partsOf(object).status, partsOf(old).status]
  const ofType = (status: RequestParts['status'], type: string): RequestCondition[] =>
    (status.conditions ?? []).filter((condition) => condition.type === type)
  for (const type of onlyTrue) {
    if (ofType(now, type).length >= ofType(before, type).length) continue
    errors.push(forbidden(conditionsPath, `updates may not remove a condition of type ${goQuote(type)}`))
  }
  for (const type of may.approval ? [] : ['Approved', 'Denied']) {
    const [after, earlier] = [ofType(now, type), ofType(before, type)]
    if (after.length > earlier.length) {
      errors.push(forbidden(conditionsPath, `updates may not add a condition of type ${goQuote(type)}`))
    } else if (after.length === earlier.length && !semanticEqual(after, earlier)) {
      errors.push(forbidden(conditionsPath, `updates may not modify a condition of type ${goQuote(type)}`))
    }
  }
  if ((now.certificate ?? '') !== (before.certificate ?? '')) {
    if (!may.certificate) errors.push(forbidden(certificatePath, 'updates may not set certificate content'))
    else if (before.certificate)
      errors.push(forbidden(certificatePath, 'updates may not modify existing certificate content'))
  }
  return errors
}
