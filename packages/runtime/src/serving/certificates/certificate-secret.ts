import { KubewrightError } from '@kubewright/base'
import type { Secret, SecretDraft } from '@kubewright/k8s/core/v1'
import { checkPair } from './check-pair.ts'
import type { CertificateState } from './plan-rotation.ts'
import { splitBundle } from './read-certificate.ts'

const label = 'kubewright.dev/certificates'

/** Encodes certificates as a Secret. All replicas of an operator share it. */
export function toSecret(
  key: { readonly namespace: string; readonly name: string },
  state: CertificateState,
): SecretDraft {
  const { signer, next, serving, trusted } = state
  const data: Record<string, string> = {
    'tls.crt': serving.cert,
    'tls.key': serving.key,
    'ca.crt': trusted.join(''),
    'signer.crt': signer.cert,
    'signer.key': signer.key,
    ...(next ? { 'next.crt': next.cert, 'next.key': next.key } : {}),
  }
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { ...key, labels: { [label]: 'webhook' } },
    type: 'kubernetes.io/tls',
    data: Object.fromEntries(Object.entries(data).map(([name, text]) => [name, Buffer.from(text).toString('base64')])),
  }
}

/**
 * Decodes certificates from a Secret; undefined when they are damaged and must be replaced. Throws when the Secret was
 * not created by {@link toSecret}, since it must not be overwritten.
 */
export function fromSecret({ metadata, data = {} }: Secret): CertificateState | undefined {
  if (metadata.labels?.[label] === undefined) {
    throw new KubewrightError(
      'KW_CERTIFICATE',
      `Cannot store certificates in Secret ${metadata.namespace}/${metadata.name}: it exists and is not managed by this operator. ` +
        'Delete it, choose another Secret, or mount it and pass the folder as the certificate folder',
    )
  }
  const text = (name: string): string => Buffer.from(data[name] ?? '', 'base64').toString('utf8')
  const pair = (cert: string, key: string): { cert: string; key: string } => ({ cert: text(cert), key: text(key) })
  const state = {
    signer: pair('signer.crt', 'signer.key'),
    next: data['next.crt'] === undefined ? undefined : pair('next.crt', 'next.key'),
    serving: pair('tls.crt', 'tls.key'),
    trusted: splitBundle(text('ca.crt')),
  }
  try {
    checkPair(state.signer)
    checkPair(state.serving)
    if (state.next) checkPair(state.next)
  } catch {
    return undefined
  }
  return state.trusted.includes(state.signer.cert) ? state : undefined
}
