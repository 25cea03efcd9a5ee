import type { KeyObject } from 'node:crypto'
import {
  der,
  derBitString,
  derInteger,
  derOid,
  derSequence,
  derTag,
  derTime,
  readChildren,
  readDer,
  toPem,
} from './der.ts'
import { crypto } from './node-crypto.ts'
import {
  authorityKeyIdentifier,
  basicConstraints,
  type ExtendedKeyUsage,
  extendedKeyUsage,
  keyIdentifier,
  keyUsage,
  subjectAlternativeNames,
  subjectKeyIdentifier,
} from './x509-extensions.ts'
import { type CertificateSubject, encodeName } from './x509-name.ts'

/** A certificate and its private key, both as PEM. */
export interface KeyedCertificate {
  readonly cert: string
  readonly key: string
}

/** The contents of a certificate to issue. */
export interface CertificateRequest {
  readonly subject: CertificateSubject
  /** DNS names and IP addresses. */
  readonly hosts?: readonly string[] | undefined
  readonly usages: readonly ExtendedKeyUsage[]
  /** Milliseconds since the Unix epoch. */
  readonly notBefore: number
  readonly notAfter: number
}

const day = 24 * 60 * 60 * 1000
const year = 365 * day
const ecdsaWithSha256 = derSequence(derOid('1.2.840.10045.4.3.2'))
const sha256WithRsa = derSequence(derOid('1.2.840.113549.1.1.11'), der(derTag.null))

/** The cluster IP of the `kubernetes` service, through which pods reach the API server. */
export const serviceAddress = '10.0.0.1'

/** The names and addresses of every API server: loopback and the `kubernetes` service. */
export const servingHosts: readonly string[] = [
  'localhost',
  'kubernetes',
  'kubernetes.default',
  'kubernetes.default.svc',
  'kubernetes.default.svc.cluster.local',
  '127.0.0.1',
  '::1',
  serviceAddress,
]

/** A certificate authority (CA). The keys it generates are ECDSA P-256. */
export class CertificateAuthority {
  /** The CA certificate as PEM. */
  readonly cert: string
  readonly #key: KeyObject
  readonly #name: Buffer
  readonly #keyId: Buffer

  /** Loads an existing CA. */
  constructor(ca: KeyedCertificate) {
    const certificate = new (crypto().X509Certificate)(ca.cert)
    this.cert = ca.cert
    this.#key = crypto().createPrivateKey(ca.key)
    // TBSCertificate: [0] version, serial, signature, issuer, validity, subject.
    const [tbs] = readChildren(readDer(certificate.raw)[0], derTag.sequence)
    this.#name = readChildren(tbs, derTag.sequence)[5]!.bytes
    this.#keyId = keyIdentifier(publicKeyBits(certificate.publicKey))
  }

  /**
   * Creates a new CA, by default valid for ten years. The result contains the private key: store it in a safe place.
   */
  static create(options: {
    readonly commonName: string
    readonly now: number
    readonly validMillis?: number | undefined
  }): KeyedCertificate {
    const { publicKey, privateKey } = crypto().generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const name = encodeName({ commonName: options.commonName })
    const id = keyIdentifier(publicKeyBits(publicKey))
    const cert = signCertificate(privateKey, {
      issuer: name,
      subject: name,
      publicKey,
      notBefore: options.now - day,
      notAfter: options.now + (options.validMillis ?? 10 * year),
      extensions: [
        basicConstraints(true),
        keyUsage('digitalSignature', 'keyEncipherment', 'keyCertSign'),
        subjectKeyIdentifier(id),
      ],
    })
    return { cert, key: privatePem(privateKey) }
  }

  /** Generates a key and issues a certificate for it. */
  issue(request: CertificateRequest): KeyedCertificate {
    const { publicKey, privateKey } = crypto().generateKeyPairSync('ec', { namedCurve: 'P-256' })
    return { cert: this.sign(publicKey, request), key: privatePem(privateKey) }
  }

  /** Issues a certificate, as PEM, for a public key whose private key the caller does not have. */
  sign(publicKey: KeyObject, request: CertificateRequest): string {
    const { subject, hosts = [], usages, notBefore, notAfter } = request
    return signCertificate(this.#key, {
      issuer: this.#name,
      subject: encodeName(subject),
      publicKey,
      notBefore,
      notAfter,
      extensions: [
        basicConstraints(false),
        keyUsage('digitalSignature', 'keyEncipherment'),
        extendedKeyUsage(usages),
        subjectKeyIdentifier(keyIdentifier(publicKeyBits(publicKey))),
        authorityKeyIdentifier(this.#keyId),
        ...(hosts.length > 0 ? [subjectAlternativeNames(hosts)] : []),
      ],
    })
  }

  /** Issues a certificate for an API server, valid for a year, with {@link servingHosts} and the given hosts. */
  issueServing(options: { readonly now: number; readonly hosts?: readonly string[] | undefined }): KeyedCertificate {
    return this.issue({
      subject: { commonName: 'kube-apiserver' },
      hosts: [...new Set([...servingHosts, ...(options.hosts ?? [])])],
      usages: ['serverAuth'],
      notBefore: options.now - day,
      notAfter: options.now + year,
    })
  }

  /**
   * Issues a client certificate. The API server reads the common name as the user and the organizations as the groups.
   */
  issueClient(
    options: CertificateSubject & { readonly now: number; readonly validMillis?: number | undefined },
  ): KeyedCertificate {
    return this.issue({
      subject: options,
      usages: ['clientAuth'],
      notBefore: options.now - day,
      notAfter: options.now + (options.validMillis ?? year),
    })
  }
}

interface Content {
  readonly issuer: Uint8Array
  readonly subject: Uint8Array
  readonly publicKey: KeyObject
  readonly notBefore: number
  readonly notAfter: number
  readonly extensions: readonly Uint8Array[]
}

function signCertificate(signer: KeyObject, content: Content): string {
  const spki = content.publicKey.export({ type: 'spki', format: 'der' })
  const algorithm = signer.asymmetricKeyType === 'rsa' ? sha256WithRsa : ecdsaWithSha256
  const tbs = derSequence(
    der(0xa0, derInteger(Buffer.from([2]))),
    derInteger(serialFor(spki, content)),
    algorithm,
    content.issuer,
    derSequence(derTime(content.notBefore), derTime(content.notAfter)),
    content.subject,
    spki,
    der(0xa3, derSequence(...content.extensions)),
  )
  return toPem('CERTIFICATE', derSequence(tbs, algorithm, derBitString(crypto().sign('sha256', tbs, signer))))
}

/**
 * Serial numbers must be unique within a CA and hard to guess. A digest that includes a newly generated key is both.
 */
function serialFor(spki: Uint8Array, { subject, notBefore, notAfter }: Content): Buffer {
  const digest = crypto().createHash('sha256').update(spki).update(subject).update(`${notBefore}/${notAfter}`).digest()
  digest[0] = (digest[0]! & 0x3f) | 0x40
  return digest.subarray(0, 16)
}

/** Returns the key bits of a SubjectPublicKeyInfo, without the algorithm. */
function publicKeyBits(key: KeyObject): Buffer {
  const bits = readChildren(readDer(key.export({ type: 'spki', format: 'der' }))[0], derTag.sequence)[1]!
  return bits.content.subarray(1)
}

function privatePem(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }) as string
}
