import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseFlags } from '@kubewright/base'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { kubeletConfig } from './kubelet-config.ts'
import { kubeletFlags } from './kubelet-flags.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubewright-kubelets-'))
  for (const name of ['ca', 'cert', 'key']) await writeFile(join(folder, name), `-----BEGIN ${name}-----\n`)
  await writeFile(join(folder, 'odd'), 'odd')
})
afterAll(() => rm(folder, { recursive: true, force: true }))

const options = (...args: string[]) =>
  kubeletConfig(
    parseFlags(
      kubeletFlags,
      args.map((arg) => arg.replace('FOLDER', folder)),
    ).values,
  )

test('kubeletConfig() leaves the defaults to the server', async () => {
  expect(await options()).toBeUndefined()
})

test('kubeletConfig() reads files and address types', async () => {
  const read = await options(
    '--kubelet-certificate-authority=FOLDER/ca',
    '--kubelet-client-certificate=FOLDER/cert',
    '--kubelet-client-key=FOLDER/key',
    '--kubelet-preferred-address-types=InternalIP,Hostname',
  )
  expect(read).toMatchObject({
    ca: '-----BEGIN ca-----\n',
    preferredAddressTypes: ['InternalIP', 'Hostname'],
  })
  expect(read?.client?.()).toEqual({ cert: '-----BEGIN cert-----\n', key: '-----BEGIN key-----\n' })
})

test.each([
  ['--kubelet-client-key=FOLDER/key', 'need each other'],
  ['--kubelet-certificate-authority=FOLDER/odd', 'contains no PEM block'],
  ['--kubelet-certificate-authority=FOLDER/missing', 'cannot read'],
  ['--kubelet-preferred-address-types=Odd', 'must be a list of Hostname, InternalDNS'],
])('kubeletConfig() rejects %s', async (flag, message) => {
  await expect(options(flag)).rejects.toThrow(message)
})
