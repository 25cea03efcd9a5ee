import { X509Certificate } from 'node:crypto'
import { memoryLogger, seededRandom, VirtualClock } from '@kubewright/base'
import { describe, expect, test } from 'vitest'
import { type ManageCertificatesOptions, type ManagedCertificates, manageCertificates } from './manage-certificates.ts'
import { readCertificate } from './read-certificate.ts'
import { SecretStore } from './testdata/secret-store.ts'

const hour = 3_600_000
const day = 24 * hour
const start = Date.UTC(2026, 0, 1)
const secret = { namespace: 'homes', name: 'home-operator-webhook-cert' }
const hosts = ['hooks.homes.svc']
const targets = { mutating: ['m'], validating: ['v'], crds: ['homes.ajd.example.com', 'missing'] }

function setUp(seed: number | string) {
  const clock = new VirtualClock({ start })
  const store = new SecretStore(clock, seededRandom(seed))
  const clientConfig = { service: { namespace: 'homes', name: 'hooks' } }
  store.put('MutatingWebhookConfiguration', 'm', { webhooks: [{ name: 'a', clientConfig }] })
  store.put('ValidatingWebhookConfiguration', 'v', {
    webhooks: [
      { name: 'a', clientConfig },
      { name: 'b', clientConfig },
    ],
  })
  store.put('CustomResourceDefinition', 'homes.ajd.example.com', {
    spec: { conversion: { strategy: 'Webhook', webhook: { clientConfig } } },
  })
  const options: ManageCertificatesOptions = { client: store.client, secret, hosts, targets, clock }
  return { clock, store, options }
}

/** Advances the clock until a promise has settled. */
async function settle<T>(clock: VirtualClock, promise: Promise<T>): Promise<T> {
  let done = false
  const watched = promise.finally(() => {
    done = true
  })
  watched.catch(() => undefined)
  while (!done && (await clock.advanceToNext()));
  return watched
}

/** All CA bundles in the targets, PEM. */
function bundlesIn(store: SecretStore): string[] {
  const bundles: string[] = []
  for (const object of store.objects.values()) {
    for (const { clientConfig } of object.webhooks ?? [object.spec?.conversion?.webhook ?? {}]) {
      if (clientConfig) bundles.push(Buffer.from(clientConfig.caBundle ?? '', 'base64').toString())
    }
  }
  return bundles
}

/** Why a client would reject a certificate; undefined when it would accept it. */
function refusal(cert: string, bundle: string, now: number): string | undefined {
  const shown = readCertificate(cert).certificate
  const good = (pem: string): boolean => {
    const { notBefore, notAfter } = readCertificate(pem)
    return notBefore <= now && now < notAfter
  }
  if (!good(cert)) return 'the certificate is out of date'
  if (shown.checkHost(hosts[0]!) === undefined) return 'the certificate is for another host'
  const authorities = bundle.match(/-----BEGIN[^-]+-----[^-]+-----END[^-]+-----\n/g) ?? []
  const trusted = authorities.some((pem) => {
    const authority = readCertificate(pem).certificate
    return good(pem) && shown.checkIssued(authority) && shown.verify(authority.publicKey)
  })
  return trusted ? undefined : `none of ${authorities.length} authorities signed it`
}

describe('manageCertificates()', () => {
  test('creates certificates, stores them in a Secret and publishes the CA bundle', async () => {
    const { clock, store, options } = setUp(1)
    const managed = await settle(clock, manageCertificates(options))
    const kept = store.objects.get(`Secret/${secret.name}`)
    expect(kept).toMatchObject({ type: 'kubernetes.io/tls', metadata: secret })
    expect(Buffer.from(kept.data['tls.crt'], 'base64').toString()).toBe(managed.current().cert)
    expect(bundlesIn(store)).toEqual([managed.bundle, managed.bundle, managed.bundle, managed.bundle])
    expect(refusal(managed.current().cert, managed.bundle, clock.now())).toBeUndefined()
    await managed[Symbol.asyncDispose]()
    const { writes } = store
    await clock.advance(day)
    expect(store.writes).toBe(writes)
  })

  test('gives replicas that start at once the same certificate', async () => {
    const { clock, store, options } = setUp(2)
    const replicas = await settle(clock, Promise.all([1, 2, 3, 4].map(() => manageCertificates(options))))
    expect(new Set(replicas.map((replica) => replica.current().cert)).size).toBe(1)
    expect(new Set([...bundlesIn(store), ...replicas.map((replica) => replica.bundle)]).size).toBe(1)
    await Promise.all(replicas.map((replica) => replica[Symbol.asyncDispose]()))
  })

  test('restores a removed CA bundle', async () => {
    const { clock, store, options } = setUp(3)
    const managed = await settle(clock, manageCertificates(options))
    store.put('MutatingWebhookConfiguration', 'm', { webhooks: [{ name: 'new', clientConfig: {} }] })
    await clock.advance(70_000)
    expect(new Set(bundlesIn(store))).toEqual(new Set([managed.bundle]))
    await managed[Symbol.asyncDispose]()
  })

  test('issues a certificate for new hosts under the current authority', async () => {
    const { clock, options } = setUp(4)
    const first = await settle(clock, manageCertificates(options))
    await first[Symbol.asyncDispose]()
    const moved = await settle(clock, manageCertificates({ ...options, hosts: ['other.homes.svc', '10.0.0.1'] }))
    expect(moved.bundle).toBe(first.bundle)
    expect(new X509Certificate(moved.current().cert).checkHost('other.homes.svc')).toBe('other.homes.svc')
    await moved[Symbol.asyncDispose]()
  })

  test('starts over when all certificates have expired, and when the Secret is damaged', async () => {
    const { clock, store, options } = setUp(5)
    const first = await settle(clock, manageCertificates(options))
    await first[Symbol.asyncDispose]()
    await clock.advance(400 * day)
    const second = await settle(clock, manageCertificates(options))
    expect(refusal(second.current().cert, second.bundle, clock.now())).toBeUndefined()
    expect(second.bundle).not.toContain(first.bundle)
    await second[Symbol.asyncDispose]()
    store.objects.get(`Secret/${secret.name}`).data['signer.key'] = 'nonsense'
    const log = memoryLogger()
    const third = await settle(clock, manageCertificates({ ...options, log }))
    expect(third.bundle).not.toBe(second.bundle)
    expect(log.records[0]?.message).toContain('damaged')
    await third[Symbol.asyncDispose]()
  })

  test('does not overwrite a Secret that it did not create', async () => {
    const { clock, store, options } = setUp(6)
    store.put('Secret', secret.name, { data: {} })
    await expect(settle(clock, manageCertificates(options))).rejects.toMatchObject({ code: 'KW_CERTIFICATE' })
    expect(store.writes).toBe(0)
  })

  test('keeps the current certificate during an outage of the API server, and reports its expiry', async () => {
    const { clock, store, options } = setUp(7)
    const log = memoryLogger()
    let away = false
    const client = {
      ...store.client,
      find: ((...args: Parameters<typeof store.client.find>) =>
        away
          ? Promise.reject(new Error('connection refused'))
          : store.client.find(...args)) as typeof store.client.find,
    }
    const managed = await settle(clock, manageCertificates({ ...options, client, log, interval: '12h' }))
    away = true
    const before = managed.current()
    await clock.advance(50 * day)
    expect(managed.current()).toBe(before)
    expect(managed.health.check(new AbortController().signal)).toBeUndefined()
    await clock.advance(41 * day)
    expect(() => managed.health.check(new AbortController().signal)).toThrow('the webhook certificate has expired')
    expect(log.records.at(-1)).toMatchObject({ message: 'Failed to refresh the webhook certificates' })
    away = false
    await clock.advance(day)
    expect(managed.health.check(new AbortController().signal)).toBeUndefined()
    await managed[Symbol.asyncDispose]()
  })

  test.each([11, 12])(
    'rotates certificates for a year with three replicas, trusted at every moment (seed %i)',
    async (seed) => {
      const { clock, store, options } = setUp(seed)
      const random = seededRandom(seed).fork('test')
      const timed = {
        ...options,
        servingValidity: '480h',
        authorityValidity: '1440h',
        interval: '12h',
        settleTime: '24h',
      } as const
      const begin = (): Promise<ManagedCertificates> => manageCertificates(timed)
      const replicas = await settle(clock, Promise.all([begin(), begin(), begin()]))

      const problems: string[] = []
      const known = new Map<string, boolean>()
      const seen = { serving: new Set<string>(), bundles: new Set<string>() }
      const check = (): void => {
        for (const replica of replicas) {
          const { cert } = replica.current()
          seen.serving.add(cert)
          for (const bundle of bundlesIn(store)) {
            seen.bundles.add(bundle)
            // Time-dependent checks are repeated once a day.
            const id = `${cert}${bundle}${Math.floor(clock.now() / day)}`
            if (known.get(id)) continue
            const problem = refusal(cert, bundle, clock.now())
            if (problem !== undefined) problems.push(`day ${(clock.now() - start) / day}: ${problem}`)
            known.set(id, problem === undefined)
          }
        }
      }
      store.onWrite = check
      store.calm = false
      for (let hours = 0; hours < 365 * 24; hours += 6) {
        await clock.advance(6 * hour)
        check()
        if (random.int(100) === 0) {
          // Replaces a replica.
          const index = random.int(3)
          void replicas[index]![Symbol.asyncDispose]()
          store.calm = true
          replicas[index] = await settle(clock, begin())
          store.calm = false
        }
      }
      expect(problems).toEqual([])
      // Serving certificates are valid for 20 days and renewed after two thirds; authorities for 60 days.
      expect(seen.serving.size).toBeGreaterThan(20)
      expect(seen.bundles.size).toBeGreaterThan(12)
      await settle(clock, Promise.all(replicas.map((replica) => replica[Symbol.asyncDispose]())))
    },
  )
})
