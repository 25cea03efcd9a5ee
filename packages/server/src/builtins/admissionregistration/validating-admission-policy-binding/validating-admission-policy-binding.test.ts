import { describe, expect, test } from 'vitest'
import { cellsOf, strategyHarness } from '../../../testdata/strategy-harness.ts'
import { shownSelector } from '../../../testdata/workload-object.ts'
import { validatingAdmissionPolicyBindings } from './validating-admission-policy-binding.ts'

const { createErrors } = strategyHarness(validatingAdmissionPolicyBindings)

const apiVersion = 'admissionregistration.k8s.io/v1'

describe('validating admission policy bindings', () => {
  function binding(spec: object): object {
    return {
      apiVersion,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name: 'b' },
      spec: { policyName: 'p', ...spec },
    }
  }

  test.each<[string, object, string[]]>([
    ['require an action', {}, ['spec.validationActions: Required value: at least one validation action is required']],
    [
      'reject Deny together with Warn',
      { validationActions: ['Deny', 'Warn'] },
      [
        'spec.validationActions: Invalid value: ["Deny","Warn"]: must not contain both Deny and Warn ' +
          '(repeating the same validation failure information in the API response and headers serves no purpose)',
      ],
    ],
    [
      'require an action for missing parameters',
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

  test('show named parameters', () => {
    expect(cellsOf(validatingAdmissionPolicyBindings, { spec: { policyName: 'p', paramRef: { name: 'n' } } })).toEqual([
      'x',
      'p',
      '*/n',
      '60m',
    ])
  })

  test('show a parameter selector as Go prints it', () => {
    expect(
      cellsOf(validatingAdmissionPolicyBindings, { spec: { policyName: 'p', paramRef: { selector: shownSelector } } }),
    ).toEqual([
      'x',
      'p',
      '&LabelSelector{MatchLabels:map[string]string{a: b,},MatchExpressions:[]LabelSelectorRequirement{LabelSelectorRequirement{Key:k,Operator:In,Values:[2 1],},},}',
      '60m',
    ])
  })
})
