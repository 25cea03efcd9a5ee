import { generateKeyPairSync } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseFlags } from '@kubewright/base'
import { createServerIdentity, ServiceAccountKeys } from '@kubewright/server'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { certificateConfig } from './certificate-config.ts'
import { certificateFlags } from './certificate-flags.ts'
import { upConfig } from './plane-config.ts'
import { upFlags } from './up-command.ts'

const { serving, admin } = createServerIdentity(Date.now())
const signingKey = ServiceAccountKeys.generate()
const ed25519 = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }) as string

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubewright-certificates-'))
  const files = {
    'apiserver.crt': serving.cert,
    'apiserver.key': serving.key,
    'other.key': admin.key,
    // A file may have several blocks, as those of openssl have.
    'sa.pem': `comment\n${signingKey}${admin.cert}`,
    'ed25519.key': ed25519,
    odd: 'odd',
  }
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const valuesOf = (flags: string) =>
  parseFlags(certificateFlags, flags === '' ? [] : flags.replaceAll('FOLDER', folder).split(' ')).values
const options = (flags: string) => certificateConfig(valuesOf(flags))

test('certificateConfig() leaves certificates and keys to the server', async () => {
  expect(await options('')).toBeUndefined()
  expect(await options('--cert-dir=FOLDER/missing')).toBeUndefined()
})

test.each(['--cert-dir=FOLDER', '--tls-cert-file=FOLDER/apiserver.crt --tls-private-key-file=FOLDER/apiserver.key'])(
  'certificateConfig() reads the serving certificate of %s',
  async (flags) => {
    expect(await options(flags)).toEqual({ serving, serviceAccounts: { verifyingKeys: [] } })
  },
)

test('certificateConfig() reads the keys of service accounts', async () => {
  const read = await options(
    '--service-account-signing-key-file=FOLDER/sa.pem --service-account-issuer=https://issuer ' +
      '--service-account-key-file=FOLDER/sa.pem --service-account-key-file=FOLDER/apiserver.crt',
  )
  const keys = [signingKey, admin.cert, serving.cert].map((pem) => `${pem.trimEnd()}\n`)
  expect(read).toEqual({
    serviceAccounts: { keys: [keys[0]], verifyingKeys: keys, issuer: 'https://issuer' },
  })
  // The server can sign with the first key and verify with all of them.
  expect(() => new ServiceAccountKeys([keys[0]!, ...keys])).not.toThrow()
})

test.each([
  ['--tls-cert-file=FOLDER/apiserver.crt', 'need each other'],
  ['--tls-cert-file=FOLDER/apiserver.crt --tls-private-key-file=FOLDER/other.key', 'does not belong to'],
  ['--tls-cert-file=FOLDER/odd --tls-private-key-file=FOLDER/apiserver.key', 'cannot be read'],
  ['--tls-cert-file=FOLDER/missing --tls-private-key-file=FOLDER/apiserver.key', 'cannot read'],
  ['--service-account-signing-key-file=FOLDER/sa.pem', 'needs --service-account-issuer'],
  ['--service-account-signing-key-file=FOLDER/apiserver.crt --service-account-issuer=x', 'contains none'],
  ['--service-account-signing-key-file=FOLDER/ed25519.key --service-account-issuer=x', 'RSA or ECDSA P-256'],
  ['--service-account-key-file=FOLDER/odd', 'contains none'],
  ['--service-account-key-file=FOLDER/missing', 'cannot read'],
  ['--allow-privileged=false', 'always allows privileged containers'],
])('certificateConfig() rejects %s', async (flags, message) => {
  await expect(options(flags)).rejects.toThrow(message)
})

test.each([
  ['--service-account-issuer=1:2', 'was not a valid URL'],
  ['--secure-port=0', '--secure-port'],
])('certificateFlags reject %s', (flag, message) => {
  expect(() => parseFlags(certificateFlags, [flag])).toThrow(message)
})

test('upConfig() sets the port and the client CA by the names of kube-apiserver', async () => {
  const config = async (flags: string) => {
    const { values } = parseFlags(upFlags, flags === '' ? [] : flags.replaceAll('FOLDER', folder).split(' '))
    return (await upConfig(values, { env: {}, out: () => undefined })).config
  }
  expect(await config('')).toMatchObject({ serving: { port: 6443 }, access: { clientCas: [] } })
  const flags = '--port=1 --secure-port=7443 --client-ca-file=FOLDER/apiserver.crt'
  expect(await config(flags)).toMatchObject({ serving: { port: 7443 }, access: { clientCas: [serving.cert] } })
  await expect(config(`${flags} --client-ca=other.crt`)).rejects.toThrow('exclude each other')
  await expect(config('--client-ca=FOLDER/odd')).rejects.toThrow('must be a file with PEM certificates')
})
