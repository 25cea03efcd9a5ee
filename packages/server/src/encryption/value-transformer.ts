import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import type { EncryptionKey, EncryptionProvider } from '../config/encryption-config.ts'
import { openSecretbox, sealSecretbox } from './secretbox.ts'

/** A decrypted value. */
export interface Opened {
  readonly value: Uint8Array
  /** Whether a write would use another provider or key. */
  readonly isStale: boolean
}

/**
 * Encrypts and decrypts the values of some keys, in the formats of kube-apiserver (apiserver/pkg/storage/value/encrypt): a prefix such as
 * `k8s:enc:aescbc:v1:key1:`, then the nonce and the ciphertext.
 */
export interface ValueTransformer {
  seal(value: Uint8Array, key: string): Uint8Array
  /** Undefined if no provider can decrypt the value. */
  open(value: Uint8Array, key: string): Opened | undefined
}

/** The prefix of every encrypted value. */
const encryptedPrefix = Buffer.from('k8s:enc:')

/** Whether a stored value is encrypted by some provider. */
function isEncrypted(value: Uint8Array): boolean {
  return startsWith(value, encryptedPrefix)
}

interface Algorithm {
  seal(value: Uint8Array, secret: Uint8Array, key: string): Uint8Array
  /** Throws or returns undefined for a value that another secret has encrypted or that was changed. */
  open(value: Uint8Array, secret: Uint8Array, key: string): Uint8Array | undefined
}

const algorithms: Readonly<Record<Exclude<EncryptionProvider['kind'], 'identity'>, Algorithm>> = {
  aescbc: {
    seal: (value, secret) => {
      const iv = randomBytes(16)
      const cipher = createCipheriv(`aes-${8 * secret.length}-cbc`, secret, iv)
      return Buffer.concat([iv, cipher.update(value), cipher.final()])
    },
    open: (value, secret) => {
      const decipher = createDecipheriv(`aes-${8 * secret.length}-cbc`, secret, value.subarray(0, 16))
      return Buffer.concat([decipher.update(value.subarray(16)), decipher.final()])
    },
  },
  aesgcm: {
    // The key of the entry is authenticated, so that a value cannot be moved to another key.
    seal: (value, secret, key) => {
      const nonce = randomBytes(12)
      const cipher = createCipheriv(gcmOf(secret), secret, nonce).setAAD(Buffer.from(key))
      return Buffer.concat([nonce, cipher.update(value), cipher.final(), cipher.getAuthTag()])
    },
    open: (value, secret, key) => {
      const tagAt = value.length - 16
      const decipher = createDecipheriv(gcmOf(secret), secret, value.subarray(0, 12), { authTagLength: 16 })
      decipher.setAAD(Buffer.from(key)).setAuthTag(value.subarray(tagAt))
      return Buffer.concat([decipher.update(value.subarray(12, tagAt)), decipher.final()])
    },
  },
  secretbox: {
    seal: (value, secret) => {
      const nonce = randomBytes(24)
      return Buffer.concat([nonce, sealSecretbox(value, nonce, secret)])
    },
    open: (value, secret) => openSecretbox(value.subarray(24), value.subarray(0, 24), secret),
  },
}

function gcmOf(secret: Uint8Array): 'aes-128-gcm' | 'aes-192-gcm' | 'aes-256-gcm' {
  return secret.length === 16 ? 'aes-128-gcm' : secret.length === 24 ? 'aes-192-gcm' : 'aes-256-gcm'
}

/** A transformer that writes with the first key of the first provider and reads with every key of every provider. */
export function valueTransformer(providers: readonly EncryptionProvider[]): ValueTransformer {
  const readers = providers.flatMap((provider) => (provider.kind === 'identity' ? [identity] : keyed(provider)))
  const [first] = readers
  return {
    seal: (value, key) => first!.seal(value, key),
    open: (value, key) => {
      for (const reader of readers) {
        const opened = reader.open(value, key)
        if (opened) return { value: opened, isStale: reader !== first }
      }
      return undefined
    },
  }
}

interface Reader {
  seal(value: Uint8Array, key: string): Uint8Array
  /** Undefined for values of other readers. */
  open(value: Uint8Array, key: string): Uint8Array | undefined
}

const identity: Reader = {
  seal: (value) => value,
  open: (value) => (isEncrypted(value) ? undefined : value),
}

function keyed({ kind, keys }: Exclude<EncryptionProvider, { kind: 'identity' }>): Reader[] {
  return keys.map((key: EncryptionKey) => {
    const prefix = Buffer.from(`k8s:enc:${kind}:v1:${key.name}:`)
    const { seal, open } = algorithms[kind]
    return {
      seal: (value, path) => Buffer.concat([prefix, seal(value, key.secret, path)]),
      open: (value, path) => {
        if (!startsWith(value, prefix)) return undefined
        try {
          return open(value.subarray(prefix.length), key.secret, path)
        } catch {
          // Another key with the same name, or a changed value.
          return undefined
        }
      },
    }
  })
}

function startsWith(value: Uint8Array, prefix: Buffer): boolean {
  return value.length >= prefix.length && prefix.compare(value, 0, prefix.length) === 0
}
