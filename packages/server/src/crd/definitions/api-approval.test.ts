import { expect, test } from 'vitest'
import { apiApprovalOf, approvalAnnotation, approvalCondition, isProtectedGroup } from './api-approval.ts'

test.each([
  ['k8s.io', true],
  ['x.k8s.io', true],
  ['kubernetes.io', true],
  ['a.b.kubernetes.io', true],
  ['myk8s.io', false],
  ['example.com', false],
])('isProtectedGroup() classifies %s', (group, expected) => {
  expect(isProtectedGroup(group)).toBe(expected)
})

test.each([
  [undefined, 'missing', 'False', 'MissingAnnotation'],
  ['unapproved, an experiment', 'bypassed', 'False', 'UnapprovedAnnotation'],
  ['https://github.com/kubernetes/enhancements/pull/1111', 'approved', 'True', 'ApprovedAnnotation'],
  ['no reason', 'invalid', 'False', 'InvalidAnnotation'],
  ['/path/only', 'invalid', 'False', 'InvalidAnnotation'],
])('apiApprovalOf() reads %s', (annotation, state, status, reason) => {
  const annotations = annotation === undefined ? {} : { [approvalAnnotation]: annotation }
  const approval = apiApprovalOf({ annotations })
  expect(approval.state).toBe(state)
  expect(approvalCondition(approval)).toMatchObject({ status, reason, message: approval.reason })
})
