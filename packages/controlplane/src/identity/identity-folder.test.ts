import { X509Certificate } from 'node:crypto'
import { cpSync } from 'node:fs'
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { identityIn } from './identity-folder.ts'

const day = 24 * 60 * 60 * 1000
const now = Date.UTC(2030, 0, 1)

async function inFolder(check: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'kubewright-identity-'))
  try {
    await check(join(folder, 'pki'))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

describe('identityIn()', () => {
  test('generates an identity once, in files that only the owner can read', () =>
    inFolder(async (folder) => {
      const first = await identityIn(folder, now)
      expect(await identityIn(folder, now + 30 * day)).toEqual(first)
      expect((await stat(folder)).mode & 0o777).toBe(0o700)
      const files = await readdir(folder)
      expect(files).toHaveLength(9)
      for (const file of files) expect((await stat(join(folder, file))).mode & 0o777).toBe(0o600)
    }))

  test('renews certificates that are about to expire and keeps the CA and the token key', () =>
    inFolder(async (folder) => {
      const first = await identityIn(folder, now)
      const later = await identityIn(folder, now + 340 * day)
      expect(later.ca).toEqual(first.ca)
      expect(later.serviceAccountKey).toBe(first.serviceAccountKey)
      expect(later.frontProxyCa).toEqual(first.frontProxyCa)
      expect(later.serving).not.toEqual(first.serving)
      const ca = new X509Certificate(first.ca.cert)
      expect(new X509Certificate(later.serving.cert).verify(ca.publicKey)).toBe(true)
      expect(new X509Certificate(later.admin.cert).subject).toBe('O=system:masters\nCN=kubernetes-admin')
      expect(await identityIn(folder, now + 340 * day)).toEqual(later)
    }))

  test('adds files that folders of earlier versions lack', () =>
    inFolder(async (folder) => {
      const first = await identityIn(folder, now)
      await rm(join(folder, 'front-proxy-ca.key'))
      const later = await identityIn(folder, now)
      expect({ ...later, frontProxyCa: first.frontProxyCa }).toEqual(first)
      expect(later.frontProxyCa).not.toEqual(first.frontProxyCa)
      expect(await identityIn(folder, now)).toEqual(later)
    }))

  test('takes the identity that another server saves while it generates its own', () =>
    inFolder(async (folder) => {
      const host = 'api.example.test'
      const other = await identityIn(`${folder}-other`, now, [host])
      // Generating the identity reads the hosts: the moment at which the other server, with the same hosts, is faster.
      const hosts = Object.defineProperty([], 0, {
        enumerable: true,
        get: () => {
          cpSync(`${folder}-other`, folder, { recursive: true })
          return host
        },
      })
      expect(await identityIn(folder, now, hosts)).toEqual(other)
      expect(await identityIn(folder, now, [host])).toEqual(other)
      expect((await readdir(join(folder, '..'))).sort()).toEqual(['pki', 'pki-other'])
    }))

  test('generates an identity in a folder of an interrupted start', () =>
    inFolder(async (folder) => {
      await identityIn(folder, now)
      await rm(join(folder, 'ca.crt'))
      const second = await identityIn(folder, now)
      expect(await identityIn(folder, now)).toEqual(second)
    }))

  test('refuses a CA that is about to expire', () =>
    inFolder(async (folder) => {
      await identityIn(folder, now)
      await expect(identityIn(folder, now + 3640 * day)).rejects.toThrow(/^The certificate authority expires on/)
    }))
})
