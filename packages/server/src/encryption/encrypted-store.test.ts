import { MemoryStore } from '@kubewright/storage'
import { storageContract } from '@kubewright/storage/contract'
import { describe, expect, test } from 'vitest'
import { assembleServer } from '../assemble-server.ts'
import { type EncryptionConfig, parseEncryptionConfig } from '../config/encryption-config.ts'
import { EncryptedStore } from './encrypted-store.ts'
import { openSecretbox, sealSecretbox } from './secretbox.ts'

const secretOf = (fill: number, size = 32): string => Buffer.alloc(size, fill).toString('base64')
const provider = (kind: string, ...names: string[]): object => ({
  [kind]: { keys: names.map((name) => ({ name, secret: secretOf(name.charCodeAt(name.length - 1)) })) },
})
const identity = { identity: {} }

function configOf(resources: readonly string[], ...providers: object[]): EncryptionConfig {
  return parseEncryptionConfig({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'EncryptionConfiguration',
    resources: [{ resources, providers }],
  })
}

storageContract('EncryptedStore', test, async () => {
  const builtins = new Map([['/registry/secrets/', { group: '', resource: 'secrets' }]])
  return new EncryptedStore(new MemoryStore(), configOf(['*.*'], provider('aesgcm', 'k1')), builtins)
})

describe('assembleServer({ encryption })', () => {
  const secrets = '/api/v1/namespaces/default/secrets'
  const key = '/registry/secrets/default/s'

  /** Starts a server on the store, sends requests to it and stops it. */
  async function withServer<T>(
    store: MemoryStore,
    encryption: EncryptionConfig | undefined,
    // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
    run: (send: (line: string, body?: unknown) => Promise<any>) => Promise<T>,
  ): Promise<T> {
    await using server = await assembleServer({
      store,
      encryption,
      access: { tokens: [{ token: 'root', user: { name: 'root', groups: ['system:masters'] } }] },
    })
    // Awaited here, before the server is disposed.
    return await run(async (line, body) => {
      const [method = '', path = ''] = line.split(' ')
      const response = await server.handler({
        method,
        path,
        query: new URLSearchParams(),
        headers: { authorization: 'Bearer root', 'content-type': 'application/json' },
        body: async () => Buffer.from(body === undefined ? '' : JSON.stringify(body)),
        signal: new AbortController().signal,
        peer: { address: '127.0.0.1' },
      })
      const text = Buffer.from(response.body as Uint8Array).toString()
      return text.startsWith('{') ? JSON.parse(text) : text
    })
  }
  const storedText = async (store: MemoryStore, at = key): Promise<string> =>
    Buffer.from((await store.get(at)).entry!.value).toString('latin1')

  test.each(['aescbc', 'aesgcm', 'secretbox'])('stores secrets encrypted with %s and nothing else', async (kind) => {
    const store = new MemoryStore()
    const config = configOf(['secrets'], provider(kind, 'key1'), identity)
    await withServer(store, config, async (send) => {
      await send(`POST ${secrets}`, { metadata: { name: 's' }, stringData: { password: 'hunter2' } })
      await send('POST /api/v1/namespaces/default/configmaps', { metadata: { name: 'c' }, data: { k: 'plain' } })
      expect((await send(`GET ${secrets}/s`)).data).toEqual({ password: 'aHVudGVyMg==' })
      expect((await send(`GET ${secrets}`)).items).toHaveLength(1)
    })
    const text = await storedText(store)
    expect(text.startsWith(`k8s:enc:${kind}:v1:key1:`)).toBe(true)
    expect(text).not.toContain('aHVudGVyMg')
    expect(await storedText(store, '/registry/configmaps/default/c')).toContain('plain')
    // After a restart, the caches are filled from encrypted values.
    await withServer(store, config, async (send) => {
      expect((await send(`GET ${secrets}/s`)).data).toEqual({ password: 'aHVudGVyMg==' })
    })
  })

  test('reads with every key and writes unchanged objects again with the first one', async () => {
    const store = new MemoryStore()
    await withServer(store, configOf(['secrets'], identity), async (send) => {
      await send(`POST ${secrets}`, { metadata: { name: 's' }, stringData: { k: 'v' } })
    })
    expect(await storedText(store)).toContain('"data"')
    const rotations: [string, object[]][] = [
      ['k8s:enc:aescbc:v1:key1:', [provider('aescbc', 'key1'), identity]],
      ['k8s:enc:aescbc:v1:key2:', [provider('aescbc', 'key2', 'key1')]],
      ['k8s:enc:secretbox:v1:key3:', [provider('secretbox', 'key3'), provider('aescbc', 'key2')]],
      ['{"kind":"Secret"', [identity, provider('secretbox', 'key3')]],
    ]
    for (const [prefix, providers] of rotations) {
      await withServer(store, configOf(['secrets'], ...providers), async (send) => {
        const object = await send(`GET ${secrets}/s`)
        expect(object.data).toEqual({ k: 'dg==' })
        const written = await send(`PUT ${secrets}/s`, object)
        expect(written.metadata.resourceVersion).not.toBe(object.metadata.resourceVersion)
        // Not stale any more: the same write changes nothing.
        expect((await send(`PUT ${secrets}/s`, written)).metadata.resourceVersion).toBe(
          written.metadata.resourceVersion,
        )
      })
      expect((await storedText(store)).slice(0, prefix.length)).toBe(prefix)
    }
  })

  test.each<[string, EncryptionConfig | undefined]>([
    ['without a configuration', undefined],
    ['with the wrong key', configOf(['secrets'], { aescbc: { keys: [{ name: 'key1', secret: secretOf(9) }] } })],
    ['with other keys', configOf(['secrets'], provider('aesgcm', 'key1'), identity)],
  ])('does not serve encrypted objects %s', async (_, wrong) => {
    const store = new MemoryStore()
    await withServer(store, configOf(['secrets'], provider('aescbc', 'key1')), async (send) => {
      await send(`POST ${secrets}`, { metadata: { name: 's' }, stringData: { k: 'v' } })
    })
    await withServer(store, wrong, async (send) => {
      expect(await send(`GET ${secrets}/s`)).toMatchObject({ kind: 'Status', code: 500 })
      expect((await send(`GET ${secrets}`)).items).toEqual([])
    })
  })

  test('encrypts custom resources and groups by pattern', async () => {
    const store = new MemoryStore()
    const crd = {
      metadata: { name: 'things.example.com' },
      spec: {
        group: 'example.com',
        names: { plural: 'things', kind: 'Thing' },
        scope: 'Namespaced',
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object' } } }],
      },
    }
    await withServer(store, configOf(['*.example.com', '*.apps'], provider('aescbc', 'key1')), async (send) => {
      await send('POST /apis/apiextensions.k8s.io/v1/customresourcedefinitions', crd)
      const path = 'POST /apis/example.com/v1/namespaces/default/things'
      const thing = { apiVersion: 'example.com/v1', kind: 'Thing', metadata: { name: 't' } }
      for (let tries = 0; (await send(path, thing)).kind !== 'Thing' && tries < 1000; tries++) {
        await new Promise((resolve) => setImmediate(resolve))
      }
    })
    expect(await storedText(store, '/registry/example.com/things/default/t')).toContain('k8s:enc:aescbc:v1:key1:')
    expect(
      await storedText(store, '/registry/apiextensions.k8s.io/customresourcedefinitions/things.example.com'),
    ).toContain('"things"')
  })
})

describe('parseEncryptionConfig()', () => {
  test.each<[readonly string[], object[], string]>([
    [[], [identity], 'resources[0].resources: Required value: at least one resources[0].resources is required'],
    [['secrets'], [], 'resources[0].providers: Required value: at least one resources[0].providers is required'],
    [['*'], [identity], `resources[0].resources[0]: Invalid value: "*": use '*.'`],
    [['secrets', 'secrets'], [identity], 'the same resource cannot be specified multiple times'],
    [['secrets', '*.'], [identity], 'using overlapping resources'],
    [['Secrets'], [identity], 'resource name should not contain capital letters'],
    [['secrets.*'], [identity], 'encrypting the same resource across groups is not supported'],
    [['secrets'], [{}], 'resources[0].providers[0]: Invalid value: provider does not contain any'],
    [['secrets'], [{ ...identity, aescbc: {} }], 'more than one provider specified in a single element'],
    [['secrets'], [{ kms: {} }], 'resources[0].providers[0].kms: KMS providers are not available'],
    [['secrets'], [{ aescbc: {} }], 'resources[0].providers[0].aescbc.keys: Required value'],
    [
      ['secrets'],
      [{ secretbox: { keys: [{ name: 'a', secret: secretOf(1, 16) }] } }],
      'resources[0].providers[0].secretbox.keys[0].secret: Invalid value: "REDACTED": secret is not of the expected length, got 16, expected one of [32]',
    ],
    [
      ['secrets'],
      [{ aesgcm: { keys: [{ name: 'a', secret: '*' }] } }],
      'resources[0].providers[0].aesgcm.keys[0].secret: Invalid value: "REDACTED": secrets must be base64 encoded',
    ],
    [['secrets'], [{ identity: {}, more: 1 }], 'unknown field "resources[0].providers[0].more"'],
  ])('refuses %j with %j', (resources, providers, message) => {
    expect(() => configOf(resources, ...providers)).toThrow(message)
  })
})

describe('sealSecretbox()', () => {
  const hex = (text: string): Buffer => Buffer.from(text, 'hex')
  // The example of "Cryptography in NaCl" (Bernstein), section 8.
  const key = hex('1b27556473e985d462cd51197a9a46c76009549eac6474f206c4ee0844f68389')
  const nonce = hex('69696ee955b62b73cd62bda875fc73d68219e0036b7a0b37')

  test('equals the example of NaCl', () => {
    const message = hex(
      'be075fc53c81f2d5cf141316ebeb0c7b5228c52a4c62cbd44b66849b64244ffce5ecbaaf33bd751a1ac728d45e6c61296cdc3c01233561f41db66cce314adb31' +
        '0e3be8250c46f06dceea3a7fa1348057e2f6556ad6b1318a024a838f21af1fde048977eb48f59ffd4924ca1c60902e52f0a089bc76897040e082f93776384864' +
        '5e0705',
    )
    const box = sealSecretbox(message, nonce, key)
    expect(box.subarray(0, 16).toString('hex')).toBe('f3ffc7703f9400e52a7dfb4b3d3305d9')
    expect(box.subarray(16, 48).toString('hex')).toBe(
      '8e993b9f48681273c29650ba32fc76ce48332ea7164d96a4476fb8c531a1186a',
    )
    expect(openSecretbox(box, nonce, key)).toEqual(message)
    box[20]! ^= 1
    expect(openSecretbox(box, nonce, key)).toBeUndefined()
  })

  test.each([0, 1, 31, 32, 33, 95, 96, 97, 1000])('decrypts a message of %i bytes', (size) => {
    const message = Buffer.alloc(size, 7)
    expect(openSecretbox(sealSecretbox(message, nonce, key), nonce, key)).toEqual(message)
  })
})
