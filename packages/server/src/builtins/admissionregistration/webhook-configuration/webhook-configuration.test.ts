import { describe, expect, test } from 'vitest'
import { cellsOf, strategyHarness } from '../../../testdata/strategy-harness.ts'
import { mutatingWebhookConfigurations, validatingWebhookConfigurations } from './webhook-configuration.ts'

const { createErrors, defaulted, updated } = strategyHarness(
  mutatingWebhookConfigurations,
  validatingWebhookConfigurations,
)

const apiVersion = 'admissionregistration.k8s.io/v1'
const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }
const webhook = {
  name: 'a.example.com',
  clientConfig: { url: 'https://127.0.0.1/x' },
  admissionReviewVersions: ['v1'],
  sideEffects: 'None',
  rules: [rule],
}

function configuration(kind: string, ...webhooks: object[]): object {
  return { apiVersion, kind, metadata: { name: 'w' }, webhooks: webhooks.map((each) => ({ ...webhook, ...each })) }
}

describe('webhook configurations', () => {
  test('default policies, selectors and timeouts', () => {
    const { webhooks } = defaulted(configuration('MutatingWebhookConfiguration', {})) as unknown as {
      webhooks: object[]
    }
    expect(webhooks[0]).toMatchObject({
      failurePolicy: 'Fail',
      matchPolicy: 'Equivalent',
      namespaceSelector: {},
      objectSelector: {},
      timeoutSeconds: 10,
      reinvocationPolicy: 'Never',
      rules: [{ scope: '*' }],
    })
  })

  test.each<[string, object, string[]]>([
    ['accept a minimal object', {}, []],
    [
      'require names with three segments',
      { name: 'short' },
      ['webhooks[0].name: Invalid value: "short": should be a domain with at least three segments separated by dots'],
    ],
    [
      'require a URL or a service',
      { clientConfig: {} },
      ['webhooks[0].clientConfig: Required value: exactly one of url or service is required'],
    ],
    [
      'reject URLs with user, query or fragment',
      { clientConfig: { url: 'http://u@h/?q#f' } },
      [
        'webhooks[0].clientConfig.url: Invalid value: "http": \'https\' is the only allowed URL scheme; desired format: https://host[/path]',
        'webhooks[0].clientConfig.url: Invalid value: "u": user information is not permitted in the URL',
        'webhooks[0].clientConfig.url: Invalid value: "f": fragments are not permitted in the URL',
        'webhooks[0].clientConfig.url: Invalid value: "q": query parameters are not permitted in the URL',
      ],
    ],
    [
      'report a missing service name under the path of its namespace, as kube-apiserver does',
      { clientConfig: { service: { name: '', namespace: 'n' } } },
      ['webhooks[0].clientConfig.service.namespace: Required value'],
    ],
    [
      'reject webhooks with side effects',
      { sideEffects: 'Some' },
      ['webhooks[0].sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"'],
    ],
    [
      'reject wildcards beside other resources',
      { rules: [{ ...rule, resources: ['*', 'pods', '*/*'] }] },
      [
        'webhooks[0].rules[0].resources: Invalid value: ["*","pods","*/*"]: if \'*/*\' is present, must not specify other resources',
        'webhooks[0].rules[0].resources: Invalid value: ["*","pods","*/*"]: if \'*\' is present, must not specify other resources without subresources',
      ],
    ],
    [
      'require a version of AdmissionReview that the server supports',
      { admissionReviewVersions: ['v2', 'v2'] },
      [
        'webhooks[0].admissionReviewVersions[1]: Invalid value: "v2": duplicate version',
        'webhooks[0].admissionReviewVersions: Invalid value: ["v2","v2"]: must include at least one of v1, v1beta1',
      ],
    ],
    [
      'compile match conditions',
      {
        matchConditions: [
          { name: 'a', expression: 'object.x == 1' },
          { name: 'a', expression: '1' },
        ],
      },
      [
        'webhooks[0].matchConditions[1].expression: Invalid value: "1": must evaluate to bool but got int',
        'webhooks[0].matchConditions[1].name: Duplicate value: "a"',
      ],
    ],
  ])('%s', async (_, fields, errors) => {
    expect(await createErrors(configuration('ValidatingWebhookConfiguration', fields))).toEqual(errors)
  })

  test('reject duplicate names', async () => {
    expect(await createErrors(configuration('MutatingWebhookConfiguration', {}, {}))).toEqual([
      'webhooks[1].name: Duplicate value: "a.example.com"',
    ])
  })

  test('allow an update to keep side effects that the stored object has', async () => {
    const before = configuration('ValidatingWebhookConfiguration', { sideEffects: 'Unknown' })
    const { errors } = await updated(before, (object) => void (object.metadata.labels = { a: 'b' }))
    expect(errors).toEqual([])
  })

  test('show the number of webhooks', () => {
    expect(cellsOf(mutatingWebhookConfigurations, { webhooks: [{}] })).toEqual(['x', 1, '60m'])
  })
})
