import { defineFlags, integerFrom, UsageError } from '@kubewright/base'

const section = 'Certificates and keys, as in kube-apiserver'

/** The flags of `up` for certificates and keys that others have issued, and the names that kube-apiserver has for flags of `up`. */
export const certificateFlags = defineFlags({
  'secure-port': {
    section,
    value: 'N',
    parse: integerFrom(1, 65_535),
    help: 'The same as --port, which it overrides',
  },
  'client-ca-file': { section, value: 'FILE', complete: 'files', help: 'The same as --client-ca' },
  'tls-cert-file': {
    section,
    value: 'FILE',
    complete: 'files',
    defaultText: 'a certificate that the CA of this server signs',
    help: 'Present this certificate to clients, followed by its intermediate CAs; needs --tls-private-key-file',
  },
  'tls-private-key-file': { section, value: 'FILE', complete: 'files', help: 'The private key of --tls-cert-file' },
  'cert-dir': {
    section,
    value: 'DIR',
    complete: 'files',
    help: 'Use apiserver.crt and apiserver.key of this folder, if both exist, as --tls-cert-file and --tls-private-key-file',
  },
  'service-account-signing-key-file': {
    section,
    value: 'FILE',
    complete: 'files',
    defaultText: 'a key that this server generates',
    help: 'Sign the tokens of service accounts with this private key, RSA or ECDSA P-256; needs --service-account-issuer',
  },
  'service-account-key-file': {
    section,
    value: 'FILE',
    complete: 'files',
    repeatable: true,
    help: 'Also accept tokens of service accounts that these keys have signed: public keys, private keys or certificates; may be given several times',
  },
  'service-account-issuer': {
    section,
    value: 'URL',
    parse: issuerOf,
    defaultText: 'https://kubernetes.default.svc',
    help: 'The issuer of the tokens of service accounts',
  },
  'allow-privileged': {
    section,
    default: true,
    help: 'Allow privileged containers; this server always does, and refuses false',
  },
})

// As in apiserver/pkg/options: a text with a colon must be a URL.
function issuerOf(text: string): string {
  if (text === '') throw new UsageError('--service-account-issuer must not be empty')
  if (text.includes(':') && !URL.canParse(text)) {
    throw new UsageError(`--service-account-issuer contained a ':' but was not a valid URL: "${text}"`)
  }
  return text
}
