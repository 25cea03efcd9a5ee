import { append, isDNS1123Subdomain, isPathSegmentName } from '@kubewright/base'
import { type FieldError, FieldPath, invalid, notSupported, required } from '@kubewright/schema'
import { type RoleRef, rbacGroup, type Subject } from '../../../auth/rbac/rbac-policy.ts'
import type { MutableObject } from '../../../resource/object.ts'

/** Checks the role reference and the subjects of a RoleBinding or a ClusterRoleBinding. */
export function validateBinding(binding: MutableObject, namespaced: boolean): FieldError[] {
  const errors: FieldError[] = []
  const roleRef = (binding['roleRef'] as RoleRef | null | undefined) ?? {}
  const path = FieldPath.of('roleRef')
  if (roleRef.apiGroup !== rbacGroup)
    errors.push(notSupported(path.child('apiGroup'), roleRef.apiGroup ?? '', [rbacGroup]))
  const kinds = namespaced ? ['Role', 'ClusterRole'] : ['ClusterRole']
  if (!kinds.includes(roleRef.kind ?? '')) errors.push(notSupported(path.child('kind'), roleRef.kind ?? '', kinds))
  if (!roleRef.name) errors.push(required(path.child('name')))
  else
    for (const text of isPathSegmentName(roleRef.name, false))
      errors.push(invalid(path.child('name'), roleRef.name, text))
  const subjects = (binding['subjects'] as Subject[] | null | undefined) ?? []
  for (const [i, subject] of subjects.entries()) {
    append(errors, validateSubject(subject, namespaced, FieldPath.of('subjects').index(i)))
  }
  return errors
}

function validateSubject(subject: Subject, namespaced: boolean, path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  const { kind = '', name = '', apiGroup = '', namespace = '' } = subject
  if (name === '') errors.push(required(path.child('name')))
  if (kind === 'ServiceAccount') {
    if (name !== '') for (const text of isDNS1123Subdomain(name)) errors.push(invalid(path.child('name'), name, text))
    if (apiGroup !== '') errors.push(notSupported(path.child('apiGroup'), apiGroup, ['']))
    if (!namespaced && namespace === '') errors.push(required(path.child('namespace')))
  } else if (kind === 'User' || kind === 'Group') {
    if (apiGroup !== rbacGroup) errors.push(notSupported(path.child('apiGroup'), apiGroup, [rbacGroup]))
  } else {
    errors.push(notSupported(path.child('kind'), kind, ['ServiceAccount', 'User', 'Group']))
  }
  return errors
}

/** Checks that an update keeps the role reference, which is immutable. */
export function validateRoleRefUpdate(binding: MutableObject, old: MutableObject): FieldError[] {
  const [now, before] = [binding, old].map((object) => {
    const { apiGroup = '', kind = '', name = '' } = (object['roleRef'] as RoleRef | null | undefined) ?? {}
    // The error shows the field names of the internal Go type.
    return { APIGroup: apiGroup, Kind: kind, Name: name }
  })
  return JSON.stringify(now) === JSON.stringify(before)
    ? []
    : [invalid(FieldPath.of('roleRef'), now, 'cannot change roleRef')]
}
