import type { X509Certificate } from 'node:crypto'
import { readSignatureAlgorithm } from '@kubewright/base/pki'

/** The certificates that OpenSSL is told to trust for one attempt to verify a server. */
export interface TrustStore {
  readonly ca: readonly string[]
  /** Whether a certificate of the store that another CA issued ends a chain. */
  readonly allowPartialTrustChain: boolean
}

const maxSignatureChecks = 100
const maxStores = 8
const serverAuth = ['1.3.6.1.5.5.7.3.1', '2.5.29.37.0']
/** The encoded object identifier of the name constraints extension. */
const nameConstraints = Buffer.from([0x06, 0x03, 0x55, 0x1d, 0x1e])
/** RSA, ECDSA and Ed25519 with SHA-2. */
const strongAlgorithms = new Set([
  ...['1.2.840.113549.1.1.11', '1.2.840.113549.1.1.12', '1.2.840.113549.1.1.13'],
  ...['1.2.840.10045.4.3.2', '1.2.840.10045.4.3.3', '1.2.840.10045.4.3.4', '1.3.101.112'],
])

/**
 * Trust stores with which OpenSSL may accept a certificate that it refused with all roots. OpenSSL follows one issuer per certificate and never
 * tries another one; Go tries all. Each store holds one root and the intermediates of one path, which OpenSSL prefers to what the server sent.
 *
 * The stores cannot make OpenSSL trust more than the roots: a store with intermediates does not allow partial chains, and no certificate
 * whose issuer is its own subject is added, so only the root can end a chain. OpenSSL checks the complete chain again.
 */
export function* trustStores(
  leaf: X509Certificate,
  presented: readonly X509Certificate[],
  roots: readonly X509Certificate[],
  now: number,
): Generator<TrustStore> {
  if (isIssuedByNamesake(leaf, roots, now)) yield { ca: [leaf.toString()], allowPartialTrustChain: false }
  const intermediates = presented.filter((candidate) => candidate.subject !== candidate.issuer)
  let found = 0
  for (const [root, ...path] of pathsFrom([leaf], intermediates, roots, { left: maxSignatureChecks })) {
    if (found++ >= maxStores) return
    yield { ca: [root!, ...path].map(String), allowPartialTrustChain: path.length === 0 }
  }
}

/** Every path from the last certificate of `chain` to a root, as root and intermediates. */
function* pathsFrom(
  chain: readonly X509Certificate[],
  intermediates: readonly X509Certificate[],
  roots: readonly X509Certificate[],
  budget: { left: number },
): Generator<X509Certificate[]> {
  const child = chain.at(-1)!
  for (const root of roots) if (signed(root, child, budget)) yield [root, ...chain.slice(1)]
  for (const candidate of intermediates) {
    if (chain.some(({ subject }) => subject === candidate.subject) || !signed(candidate, child, budget)) continue
    yield* pathsFrom([...chain, candidate], intermediates, roots, budget)
  }
}

function signed(issuer: X509Certificate, child: X509Certificate, budget: { left: number }): boolean {
  return child.checkIssued(issuer) && budget.left-- > 0 && child.verify(issuer.publicKey)
}

/**
 * Whether a root issued the certificate and both have the same subject. Without key identifiers, OpenSSL mistakes such a certificate for a
 * self-signed one, and verifies it only as a member of the store; then it checks everything but the signature.
 */
function isIssuedByNamesake(leaf: X509Certificate, roots: readonly X509Certificate[], now: number): boolean {
  if (leaf.subject !== leaf.issuer || !strongAlgorithms.has(readSignatureAlgorithm(leaf.raw))) return false
  return roots.some(
    (root) =>
      root.ca &&
      leaf.checkIssued(root) &&
      leaf.verify(root.publicKey) &&
      Date.parse(root.validFrom) <= now &&
      now <= Date.parse(root.validTo) &&
      (root.keyUsage?.some((usage) => serverAuth.includes(usage)) ?? true) &&
      !root.raw.includes(nameConstraints),
  )
}
