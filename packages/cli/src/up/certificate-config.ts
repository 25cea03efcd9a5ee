import { createPublicKey, X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { errorText, type FlagValues, UsageError } from '@kubewright/base'
import type { ServiceAccountConfig } from '@kubewright/controlplane'
import { type KeyedCertificate, ServiceAccountKeys } from '@kubewright/server'
import type { certificateFlags } from './certificate-flags.ts'

/** Certificates and keys that others have issued, read from the files that flags name. */
export interface CertificateConfig {
  /** The certificate for clients, followed by its intermediate CAs. @default one that the CA of the server signs */
  readonly serving?: KeyedCertificate | undefined
  /** The keys of service account tokens. */
  readonly serviceAccounts: ServiceAccountConfig
}

/** Reads the files that the flags name; undefined when no flag is given. Throws {@link UsageError} for files without keys and for keys that do not fit. */
export async function certificateConfig(
  values: FlagValues<typeof certificateFlags>,
): Promise<CertificateConfig | undefined> {
  if (!values['allow-privileged']) {
    throw new UsageError('--allow-privileged=false is not supported: this server always allows privileged containers')
  }
  const issuer = values['service-account-issuer']
  const signingFile = values['service-account-signing-key-file']
  if (signingFile !== undefined && issuer === undefined) {
    throw new UsageError('--service-account-signing-key-file needs --service-account-issuer')
  }
  const signingKey = signingFile === undefined ? undefined : await signingKeyIn(signingFile)
  const keys = await Promise.all(values['service-account-key-file'].map(verifyingKeysIn))
  const serving = await servingCertificate(values)
  if (serving === undefined && keys.length === 0 && issuer === undefined) return undefined
  return {
    serving,
    serviceAccounts: {
      ...(signingKey === undefined ? {} : { keys: [signingKey] }),
      verifyingKeys: keys.flat(),
      ...(issuer === undefined ? {} : { issuer }),
    },
  }
}

async function servingCertificate(values: FlagValues<typeof certificateFlags>): Promise<KeyedCertificate | undefined> {
  const { 'tls-cert-file': certFile, 'tls-private-key-file': keyFile, 'cert-dir': folder } = values
  if ((certFile === undefined) !== (keyFile === undefined)) {
    throw new UsageError('--tls-cert-file and --tls-private-key-file need each other: give both or none')
  }
  if (certFile !== undefined && keyFile !== undefined) {
    return matching(await read('--tls-cert-file', certFile), await read('--tls-private-key-file', keyFile), certFile)
  }
  if (folder === undefined) return undefined
  const file = join(folder, 'apiserver.crt')
  const [cert, key] = await Promise.all([file, join(folder, 'apiserver.key')].map(find))
  return cert === undefined || key === undefined ? undefined : matching(cert, key, file)
}

/** Checks at start what would otherwise fail every handshake. */
function matching(cert: string, key: string, file: string): KeyedCertificate {
  let fits: boolean
  try {
    fits = new X509Certificate(cert).publicKey.equals(createPublicKey(key))
  } catch (error) {
    throw new UsageError(`The serving certificate ${file} or its private key cannot be read: ${errorText(error)}`)
  }
  if (!fits) throw new UsageError(`The private key does not belong to the serving certificate ${file}`)
  return { cert, key }
}

async function signingKeyIn(file: string): Promise<string> {
  const flag = '--service-account-signing-key-file'
  const [key] = pemBlocks(await read(flag, file)).filter(({ label }) => label.endsWith('PRIVATE KEY'))
  if (!key) throw new UsageError(`${flag} must contain a private key: ${file} contains none`)
  checkTokenKeys(flag, file, [key.pem])
  return key.pem
}

async function verifyingKeysIn(file: string): Promise<string[]> {
  const flag = '--service-account-key-file'
  const keys = pemBlocks(await read(flag, file))
    .filter(({ label }) => label === 'CERTIFICATE' || label.endsWith('PUBLIC KEY') || label.endsWith('PRIVATE KEY'))
    .map(({ pem }) => pem)
  if (keys.length === 0) throw new UsageError(`${flag} must contain keys or certificates: ${file} contains none`)
  checkTokenKeys(flag, file, [ServiceAccountKeys.generate(), ...keys])
  return keys
}

function checkTokenKeys(flag: string, file: string, keys: readonly string[]): void {
  try {
    new ServiceAccountKeys(keys)
  } catch (error) {
    throw new UsageError(`${flag}: ${file} has a key that cannot be used: ${errorText(error)}`)
  }
}

function pemBlocks(text: string): { label: string; pem: string }[] {
  const blocks = text.matchAll(/-----BEGIN ([A-Z0-9 ]+)-----[^-]+-----END \1-----/g)
  return [...blocks].map(([pem, label]) => ({ label: label!, pem: `${pem}\n` }))
}

async function read(flag: string, file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    throw new UsageError(`${flag}: cannot read ${file}: ${errorText(error)}`)
  }
}

async function find(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new UsageError(`--cert-dir: cannot read ${file}: ${errorText(error)}`)
  }
}
