import { isForbidden } from 'kubewright'
import { checkConversion } from 'kubewright/conversion'
import { Deployment, MutatingWebhookConfiguration, Service, ValidatingWebhookConfiguration } from 'kubewright/k8s'
import { isTrue, startTestEnv, type TestEnvOptions } from 'kubewright/testing'
import { describe, expect, TestRunner, test } from 'vitest'
import { fakeDns } from './dns.ts'
import { homeConversion } from './home.conversion.ts'
import { Home } from './home.ts'
import { homeOperator } from './operator.ts'

const sample = (
  name = 'home-sample',
  spec: { image?: string; replicas?: number; domain?: string; port?: number } = {},
) => Home({ metadata: { name }, spec: { image: 'nginx:1.27', replicas: 2, ...spec } })

// On a cluster, tests that need virtual time or the embedded control plane are skipped.
const skip = (reason: string): void => TestRunner.getCurrentTest()?.context.skip(reason)

async function start(options: TestEnvOptions = {}) {
  const dns = fakeDns()
  const env = await startTestEnv(homeOperator(dns), { time: 'virtual', skip, ...options })
  const warnings: string[] = []
  // A new client reports each warning again.
  const client = () => env.controlPlane.client({ onWarning: (text) => warnings.push(text) })
  return { ...env, dns, warnings, warnedClient: client }
}

describe('Home', () => {
  test('rolls out, reports Ready, changes its port and releases its domain', async () => {
    await using env = await start()
    await env.client.create(sample())
    const home = await env.until(Home, 'home-sample', isTrue('Ready'))
    expect(home.status?.readyReplicas).toBe(2)
    expect(env.dns.records).toEqual({ 'home-sample.homes.my.domain': 'home-sample' })

    await env.client.patch(Home, 'home-sample', { spec: { port: 3000 } })
    await env.until(Service, 'home-sample', ({ spec }) => spec?.ports?.[0]?.targetPort === 3000)

    await env.client.delete(Home, 'home-sample')
    await Promise.all([
      env.gone(Home, 'home-sample'),
      env.gone(Deployment, 'home-sample'),
      env.gone(Service, 'home-sample'),
    ])
    expect(env.dns.records).toEqual({})
  })

  test.each<TestEnvOptions>([
    { transport: 'in-process', time: 'virtual' },
    { transport: 'https', time: 'real' },
  ])('passes through webhooks and conversions, %o', async (options) => {
    await using env = await start(options)
    const old = await env.client.create(
      Home.versions.v1alpha1({ metadata: { name: 'old' }, spec: { container: 'nginx:1.25', size: 2 } }),
    )
    expect(old.spec).toEqual({ container: 'nginx:1.25', size: 2, domain: 'old.homes.my.domain' })
    const { spec } = await env.until(Home, 'old', isTrue('Ready'))
    expect(spec).toMatchObject({ image: 'nginx:1.25', replicas: 2, port: 8080 })
  })
})

describe('homeWebhook', () => {
  test('is registered with the names and paths of kubebuilder', async () => {
    await using env = await start()
    const [mutating] = await env.client.list(MutatingWebhookConfiguration)
    const [validating] = await env.client.list(ValidatingWebhookConfiguration)
    expect(mutating?.webhooks?.map(({ name, clientConfig }) => [name, clientConfig.url?.replace(/.*\//, '/')])).toEqual(
      [['mhome-v1.kb.io', '/mutate-ajd-my-domain-v1-home']],
    )
    expect(
      validating?.webhooks?.map(({ name, clientConfig }) => [name, clientConfig.url?.replace(/.*\//, '/')]),
    ).toEqual([['vhome-v1.kb.io', '/validate-ajd-my-domain-v1-home']])
  })

  test('applies defaults on create and update', async () => {
    await using env = await start()
    const created = await env.client.create(sample())
    expect(created.spec.domain).toBe('home-sample.homes.my.domain')
    // Defaults are applied before rules are checked, so removing the domain changes nothing.
    const patched = await env.client.patch(Home, 'home-sample', { spec: { domain: null } })
    expect(patched.spec.domain).toBe('home-sample.homes.my.domain')
  })

  test('rejects a domain that is in use and names the field', async () => {
    await using env = await start()
    await env.client.create(sample('first', { domain: 'shared.my.domain' }))
    await expect(env.client.create(sample('second', { domain: 'shared.my.domain' }))).rejects.toMatchObject({
      reason: 'Invalid',
      message:
        'admission webhook "vhome-v1.kb.io" denied the request: Home.ajd.my.domain "second" is invalid: spec.domain: Duplicate value: "shared.my.domain"',
      causes: [{ field: 'spec.domain', reason: 'FieldValueDuplicate' }],
    })
  })

  test('rejects invalid updates', async () => {
    await using env = await start()
    await env.client.create(sample())
    await expect(env.client.patch(Home, 'home-sample', { spec: { image: 'nginx:latest' } })).rejects.toThrow(
      'spec.image: Invalid value: "nginx:latest": must use an immutable tag',
    )
    await expect(env.client.patch(Home, 'home-sample', { spec: { domain: 'other.my.domain' } })).rejects.toThrow(
      'spec.domain: Invalid value: "other.my.domain": is immutable',
    )
  })

  test('rejects the deletion of a protected Home with 403', async () => {
    await using env = await start()
    await env.client.create(sample())
    await env.client.patch(Home, 'home-sample', { metadata: { annotations: { 'ajd.my.domain/keep': 'true' } } })
    const deleting = env.client.delete(Home, 'home-sample')
    await expect(deleting).rejects.toSatisfy(isForbidden)
    await expect(deleting).rejects.toThrow(
      'admission webhook "vhome-v1.kb.io" denied the request: the annotation ajd.my.domain/keep protects this Home from deletion',
    )
    await env.client.patch(Home, 'home-sample', { metadata: { annotations: null } })
    await env.client.delete(Home, 'home-sample')
    await env.gone(Home, 'home-sample')
  })

  test('warns about a single replica', async () => {
    await using env = await start()
    await env.warnedClient().create(sample('alone', { replicas: 1 }))
    expect(env.warnings).toEqual(['spec.replicas: one replica means downtime on every rollout'])
  })

  test('is not called with webhooks disabled, and the operator still works', async () => {
    await using env = await start({ webhooks: false })
    await env.client.create(sample('plain', { image: 'nginx:latest' }))
    const home = await env.until(Home, 'plain', isTrue('Ready'))
    expect(home.spec.domain).toBeUndefined()
    expect(env.dns.records).toEqual({})
  })
})

describe('homeConversion', () => {
  test('is lossless', () => {
    expect(checkConversion(homeConversion).roundTrips).toBe(200)
  })

  test('serves each object in each version and keeps fields that the older one lacks', async () => {
    await using env = await start()
    await env.client.create(sample('new', { port: 3000 }))
    const v1alpha1 = env.warnedClient()
    const old = await v1alpha1.get(Home.versions.v1alpha1, 'new')
    expect(old).toMatchObject({
      apiVersion: 'ajd.my.domain/v1alpha1',
      metadata: { annotations: { 'ajd.my.domain/port': '3000' } },
      spec: { container: 'nginx:1.27', size: 2 },
    })
    expect(env.warnings).toEqual(['ajd.my.domain/v1alpha1 Home is deprecated: use v1'])
    await v1alpha1.patch(Home.versions.v1alpha1, 'new', { spec: { size: 3 } })
    const home = await env.until(Home, 'new', ({ status }) => status?.readyReplicas === 3)
    expect(home.spec).toMatchObject({ port: 3000, replicas: 3 })
    expect(home.metadata.annotations).toBeUndefined()
  })
})
