import { describe, expect, it } from 'vitest'
import { createErrors, defaulted, updated } from '../../testdata/strategy-harness.ts'

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
  it('fill policies, selectors and times', () => {
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

  it.each<[string, object, string[]]>([
    ['accept a plain one', {}, []],
    [
      'want long names',
      { name: 'short' },
      ['webhooks[0].name: Invalid value: "short": should be a domain with at least three segments separated by dots'],
    ],
    [
      'want one way to reach it',
      { clientConfig: {} },
      ['webhooks[0].clientConfig: Required value: exactly one of url or service is required'],
    ],
    [
      'refuse URLs that say too much',
      { clientConfig: { url: 'http://u@h/?q#f' } },
      [
        'webhooks[0].clientConfig.url: Invalid value: "http": \'https\' is the only allowed URL scheme; desired format: https://host[/path]',
        'webhooks[0].clientConfig.url: Invalid value: "u": user information is not permitted in the URL',
        'webhooks[0].clientConfig.url: Invalid value: "f": fragments are not permitted in the URL',
        'webhooks[0].clientConfig.url: Invalid value: "q": query parameters are not permitted in the URL',
      ],
    ],
    [
      'swap the paths of a service without name, as Kubernetes does',
      { clientConfig: { service: { name: '', namespace: 'n' } } },
      ['webhooks[0].clientConfig.service.namespace: Required value'],
    ],
    [
      'refuse side effects',
      { sideEffects: 'Some' },
      ['webhooks[0].sideEffects: Unsupported value: "Some": supported values: "None", "NoneOnDryRun"'],
    ],
    [
      'refuse stars among others',
      { rules: [{ ...rule, resources: ['*', 'pods', '*/*'] }] },
      [
        'webhooks[0].rules[0].resources: Invalid value: ["*","pods","*/*"]: if \'*/*\' is present, must not specify other resources',
        'webhooks[0].rules[0].resources: Invalid value: ["*","pods","*/*"]: if \'*\' is present, must not specify other resources without subresources',
      ],
    ],
    [
      'refuse reviews that nobody sends',
      { admissionReviewVersions: ['v2', 'v2'] },
      [
        'webhooks[0].admissionReviewVersions[1]: Invalid value: "v2": duplicate version',
        'webhooks[0].admissionReviewVersions: Invalid value: ["v2","v2"]: must include at least one of v1, v1beta1',
      ],
    ],
    [
      'compile conditions',
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

  it('refuse the same name twice', async () => {
    expect(await createErrors(configuration('MutatingWebhookConfiguration', {}, {}))).toEqual([
      'webhooks[1].name: Duplicate value: "a.example.com"',
    ])
  })

  it('may keep side effects that were allowed once', async () => {
    const before = configuration('ValidatingWebhookConfiguration', { sideEffects: 'Unknown' })
    const { errors } = await updated(before, (object) => void (object.metadata.labels = { a: 'b' }))
    expect(errors).toEqual([])
  })
})

describe('validating admission policies', () => {
  function policy(spec: object): object {
    const matchConstraints = { resourceRules: [rule] }
    return {
      apiVersion,
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name: 'p' },
      spec: { matchConstraints, validations: [{ expression: 'true' }], ...spec },
    }
  }

  it.each<[string, object, string[]]>([
    [
      'know the request, the namespace, authorizers and their own variables',
      {
        paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
        variables: [
          { name: 'count', expression: 'size(request.userInfo.groups)' },
          { name: 'many', expression: 'variables.count > 3' },
        ],
        validations: [
          {
            expression:
              'variables.many && namespaceObject.metadata.name == params.data.x && ' +
              "authorizer.group('').resource('pods').check('get').allowed() && authorizer.requestResource.check('x').allowed()",
            messageExpression: "'count: ' + string(variables.count)",
          },
        ],
        auditAnnotations: [{ key: 'k', valueExpression: 'request.operation' }],
      },
      [],
    ],
    [
      'check the types of variables',
      { variables: [{ name: 'a', expression: '1' }], validations: [{ expression: 'variables.a' }] },
      ['spec.validations[0].expression: Invalid value: "variables.a": must evaluate to bool but got int'],
    ],
    [
      'complain once about a variable that does not compile',
      { variables: [{ name: 'a', expression: 'variables.b' }], validations: [{ expression: 'variables.a == 1' }] },
      [expect.stringContaining("undefined field 'b'")],
    ],
    [
      'refuse names that are no identifiers',
      { variables: [{ name: 'in', expression: '1' }] },
      ['spec.variables[0].name: Invalid value: "in": must be a valid CEL identifier'],
    ],
    [
      'list the types of annotations',
      { validations: [], auditAnnotations: [{ key: 'k', valueExpression: '1' }] },
      [
        'spec.auditAnnotations[0].valueExpression: Invalid value: "1": must evaluate to one of [string null_type] but got int',
      ],
    ],
    [
      'keep authorizers from messages',
      {
        validations: [{ expression: 'true', messageExpression: "string(authorizer.path('/').check('get').allowed())" }],
      },
      [expect.stringContaining("undeclared reference to 'authorizer'") as unknown as string],
    ],
    [
      'refuse messages of several lines',
      { validations: [{ expression: 'true', message: 'a\nb' }] },
      ['spec.validations[0].message: Invalid value: "a\\nb": must not contain line breaks'],
    ],
  ])('%s', async (_, spec, errors) => {
    expect(await createErrors(policy(spec))).toEqual(errors)
  })
})

describe('validating admission policy bindings', () => {
  function binding(spec: object): object {
    return {
      apiVersion,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name: 'b' },
      spec: { policyName: 'p', ...spec },
    }
  }

  it.each<[string, object, string[]]>([
    ['want an action', {}, ['spec.validationActions: Required value: at least one validation action is required']],
    [
      'refuse to deny and warn',
      { validationActions: ['Deny', 'Warn'] },
      [
        'spec.validationActions: Invalid value: ["Deny","Warn"]: must not contain both Deny and Warn ' +
          '(repeating the same validation failure information in the API response and headers serves no purpose)',
      ],
    ],
    [
      'want to know what to do without parameters',
      { validationActions: ['Audit'], paramRef: { name: 'x', selector: {} } },
      [
        'spec.paramRef.name: Forbidden: name and selector are mutually exclusive',
        'spec.paramRef.selector: Forbidden: name and selector are mutually exclusive',
        'spec.paramRef.parameterNotFoundAction: Required value',
      ],
    ],
  ])('%s', async (_, spec, errors) => {
    expect(await createErrors(binding(spec))).toEqual(errors)
  })
})
