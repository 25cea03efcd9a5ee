import { defineResource } from '@kubewright/api'
import { Pod } from '@kubewright/k8s/core/v1'
import { s } from '@kubewright/schema'
import { describe, expect, test } from 'vitest'
import { defineWebhook } from '../define/define-webhook.ts'
import { homeConversion, Home as Versioned } from './conversion/testdata/home.ts'
import { conversionCrd, webhookConfigurations } from './webhook-configurations.ts'

const Home = defineResource({
  group: 'ajd.example.com',
  version: 'v1',
  kind: 'Home',
  spec: s.object({ image: s.string() }),
})
const service = { namespace: 'homes', name: 'hooks' }

describe('webhookConfigurations()', () => {
  test('registers defaulting and validation with the names and paths of kubebuilder', () => {
    const webhooks = [defineWebhook(Home, { default() {}, validate: () => [] })]
    expect(webhookConfigurations({ name: 'home-operator', webhooks }, { service, caBundle: 'PEM' })).toEqual({
      mutating: {
        apiVersion: 'admissionregistration.k8s.io/v1',
        kind: 'MutatingWebhookConfiguration',
        metadata: { name: 'home-operator-mutating-webhook-configuration' },
        webhooks: [
          {
            admissionReviewVersions: ['v1'],
            clientConfig: {
              caBundle: 'UEVN',
              service: { name: 'hooks', namespace: 'homes', path: '/mutate-ajd-example-com-v1-home' },
            },
            failurePolicy: 'Fail',
            name: 'mhome-v1.kb.io',
            rules: [
              {
                apiGroups: ['ajd.example.com'],
                apiVersions: ['v1'],
                operations: ['CREATE', 'UPDATE'],
                resources: ['homes'],
                scope: '*',
              },
            ],
            sideEffects: 'None',
          },
        ],
      },
      validating: expect.objectContaining({
        metadata: { name: 'home-operator-validating-webhook-configuration' },
        webhooks: [
          expect.objectContaining({
            name: 'vhome-v1.kb.io',
            clientConfig: {
              caBundle: 'UEVN',
              service: { name: 'hooks', namespace: 'homes', path: '/validate-ajd-example-com-v1-home' },
            },
          }),
        ],
      }),
    })
  })

  test('passes every option of a registration, and omits options that are not set', () => {
    const hook = defineWebhook(Home, {
      validateDelete: () => [],
      validationName: 'guard.example.com',
      validationPath: '/guard',
      failurePolicy: 'Ignore',
      matchPolicy: 'Exact',
      timeoutSeconds: 3,
      sideEffects: 'NoneOnDryRun',
      namespaceSelector: { matchLabels: { a: 'b' } },
      objectSelector: { matchLabels: { c: 'd' } },
      matchConditions: [{ name: 'x', expression: 'true' }],
    })
    const made = webhookConfigurations(
      { name: 'o', webhooks: [hook] },
      { url: 'https://10.0.0.7:9443/', namePrefix: '' },
    )
    expect(made.mutating).toBeUndefined()
    expect(made.validating).toMatchObject({
      metadata: { name: 'validating-webhook-configuration' },
      webhooks: [
        {
          clientConfig: { url: 'https://10.0.0.7:9443/guard' },
          failurePolicy: 'Ignore',
          matchConditions: [{ name: 'x', expression: 'true' }],
          matchPolicy: 'Exact',
          name: 'guard.example.com',
          namespaceSelector: { matchLabels: { a: 'b' } },
          objectSelector: { matchLabels: { c: 'd' } },
          rules: [expect.objectContaining({ operations: ['DELETE'] })],
          sideEffects: 'NoneOnDryRun',
          timeoutSeconds: 3,
        },
      ],
    })
  })

  test('distinguishes the versions of a kind', () => {
    const { v1, v1beta1 } = Versioned.versions
    const hooks = [defineWebhook(v1, { validate: () => [] }), defineWebhook(v1beta1, { validate: () => [] })]
    const { validating } = webhookConfigurations({ name: 'o', webhooks: hooks }, { service })
    expect(validating?.webhooks?.map(({ name, clientConfig }) => [name, clientConfig.service?.path])).toEqual([
      ['vhome-v1.kb.io', '/validate-ajd-example-com-v1-home'],
      ['vhome-v1beta1.kb.io', '/validate-ajd-example-com-v1beta1-home'],
    ])
  })

  test('registers built-in kinds and the reinvocation policy', () => {
    const hook = defineWebhook(Pod, { default() {}, reinvocationPolicy: 'IfNeeded' })
    expect(hook.defaulting?.path).toBe('/mutate--v1-pod')
    expect(webhookConfigurations({ name: 'o', webhooks: [hook] }, { service }).mutating?.webhooks?.[0]).toMatchObject({
      name: 'mpod-v1.kb.io',
      reinvocationPolicy: 'IfNeeded',
      rules: [{ apiGroups: [''], apiVersions: ['v1'], resources: ['pods'] }],
    })
  })

  test.each([
    [{ operations: ['CREATE'] }, ['CREATE'], ['CREATE']],
    [{ operations: ['UPDATE', 'DELETE'] }, ['UPDATE'], ['UPDATE', 'DELETE']],
    [{ defaultingOperations: ['CREATE'] }, ['CREATE'], ['CREATE', 'UPDATE']],
    [{ operations: ['UPDATE'], defaultingOperations: ['CREATE'] }, ['CREATE'], ['UPDATE']],
  ] as const)('registers defaulting and validation for the operations of %j', (options, defaulted, validated) => {
    const hook = defineWebhook(Home, { default() {}, validate: () => [], ...options })
    expect(hook.defaulting?.rules[0]?.operations).toEqual(defaulted)
    expect(hook.validation?.rules[0]?.operations).toEqual(validated)
  })

  test('requires either a service or a URL', () => {
    const webhooks = [defineWebhook(Home, { validate: () => [] })]
    expect(() => webhookConfigurations({ name: 'o', webhooks }, {})).toThrow(`set either 'service' or 'url'`)
  })
})

describe('defineWebhook()', () => {
  test.each([
    [{}, `has neither 'default' nor 'validate' nor 'validateDelete'`],
    [{ validate: () => [], validationPath: 'no-slash' }, `'validationPath' must look like "/a-path"`],
    [{ default() {}, timeoutSeconds: 31 }, `'timeoutSeconds' must be an integer from 1 to 30: current value is 31`],
    [{ validateDelete: () => [], operations: ['CREATE'] }, `'operations' contains CREATE, which has no handler`],
    [{ validate: () => [], operations: [] }, `'operations' is empty`],
    [{ default() {}, operations: ['DELETE'] }, `'operations' has no operation for 'default'`],
    [{ default() {}, defaultingOperations: [] }, `'defaultingOperations' is empty`],
    [{ default() {}, operations: ['CONNECT'] as never }, `'operations' contains 'CONNECT'`],
    [
      { validate: () => [], defaultingOperations: ['CREATE'] },
      `'defaultingOperations' has no effect without 'default'`,
    ],
    [{ validate: () => [], reinvocationPolicy: 'IfNeeded' }, `'reinvocationPolicy' has no effect without 'default'`],
    [{ default() {}, validationName: 'v.example.com' }, `'validationName' has no effect without 'validate'`],
    [
      { validate: () => [], validateDelete: () => [], operations: ['CREATE'] },
      `'operations' lacks DELETE, so 'validateDelete' would never be called`,
    ],
    [
      { validate: () => [], validateDelete: () => [], operations: ['DELETE'] },
      `'operations' has only DELETE, so 'validate' would never be called`,
    ],
  ] as const)('rejects %j', (options, message) => {
    expect(() => defineWebhook(Home, options)).toThrow(message)
  })
})

describe('conversionCrd()', () => {
  test('contains all versions and the conversion webhook', () => {
    const { spec } = conversionCrd(homeConversion, { service })
    expect(spec.versions.map(({ name, storage }) => [name, storage])).toEqual([
      ['v1', true],
      ['v1alpha1', false],
      ['v1beta1', false],
    ])
    expect(spec.conversion).toEqual({
      strategy: 'Webhook',
      webhook: {
        clientConfig: { service: { name: 'hooks', namespace: 'homes', path: '/convert' } },
        conversionReviewVersions: ['v1'],
      },
    })
  })
})
