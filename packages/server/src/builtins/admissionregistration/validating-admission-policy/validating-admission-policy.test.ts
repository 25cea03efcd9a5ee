import { describe, expect, test } from 'vitest'
import { cellsOf, strategyHarness } from '../../../testdata/strategy-harness.ts'
import { validatingAdmissionPolicies } from './validating-admission-policy.ts'

const { createErrors } = strategyHarness(validatingAdmissionPolicies)

const apiVersion = 'admissionregistration.k8s.io/v1'
const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }

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

  test.each<[string, object, string[]]>([
    [
      'accept expressions over the request, the namespace, the authorizer and variables',
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
      'report a variable that does not compile once',
      { variables: [{ name: 'a', expression: 'variables.b' }], validations: [{ expression: 'variables.a == 1' }] },
      [expect.stringContaining("undefined field 'b'")],
    ],
    [
      'reject variable names that are no identifiers',
      { variables: [{ name: 'in', expression: '1' }] },
      ['spec.variables[0].name: Invalid value: "in": must be a valid CEL identifier'],
    ],
    [
      'list the allowed types of audit annotations',
      { validations: [], auditAnnotations: [{ key: 'k', valueExpression: '1' }] },
      [
        'spec.auditAnnotations[0].valueExpression: Invalid value: "1": must evaluate to one of [string null_type] but got int',
      ],
    ],
    [
      'reject the authorizer in message expressions',
      {
        validations: [{ expression: 'true', messageExpression: "string(authorizer.path('/').check('get').allowed())" }],
      },
      [expect.stringContaining("undeclared reference to 'authorizer'") as unknown as string],
    ],
    [
      'reject messages with line breaks',
      { validations: [{ expression: 'true', message: 'a\nb' }] },
      ['spec.validations[0].message: Invalid value: "a\\nb": must not contain line breaks'],
    ],
  ])('%s', async (_, spec, errors) => {
    expect(await createErrors(policy(spec))).toEqual(errors)
  })

  test('show the number of validations and the kind of parameters', () => {
    expect(
      cellsOf(validatingAdmissionPolicies, {
        spec: { validations: [{}, {}], paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } },
      }),
    ).toEqual(['x', 2, 'v1/ConfigMap', '60m'])
  })
})
