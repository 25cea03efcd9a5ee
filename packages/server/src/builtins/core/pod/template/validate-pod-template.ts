import { append, goQuote } from '@kubewright/base'
import {
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  validateAnnotations,
  validateLabels,
} from '@kubewright/schema'
import { checkDescendingPath } from '../../../checks/field-checks.ts'
import type { PodSpec, PodTemplate } from '../pod-types.ts'
import { validatePodSpec } from '../validation/validate-pod-spec.ts'
import { validateAppArmorMatch, validateSeccompMatch } from '../validation/validate-profile-annotations.ts'
import { visitContainers } from '../visit-containers.ts'

const mirrorKey = 'kubernetes.io/config.mirror'
const deletionCostKey = 'controller.kubernetes.io/pod-deletion-cost'
const seccompPodKey = 'seccomp.security.alpha.kubernetes.io/pod'
const seccompContainerPrefix = 'container.seccomp.security.alpha.kubernetes.io/'
const appArmorPrefix = 'container.apparmor.security.beta.kubernetes.io/'

/** Checks a pod template whose defaults are filled (core/validation, ValidatePodTemplateSpec). */
export function validatePodTemplateSpec(template: PodTemplate, path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  const annotations = template.metadata?.annotations
  const spec = template.spec ?? {}
  append(errors, validateLabels(template.metadata?.labels, path.child('labels')))
  append(errors, validateAnnotations(annotations, path.child('annotations')))
  validatePodAnnotations(annotations, spec, path.child('annotations'), errors)
  validatePodSpec(spec, path.child('spec'), {}, errors)
  validateSeccompMatch(template.metadata, spec, path.child('spec'), errors)
  validateAppArmorMatch(template.metadata, spec, path.child('spec'), errors)
  if ((spec.ephemeralContainers ?? []).length > 0) {
    const text = 'ephemeral containers not allowed in pod template'
    errors.push(forbidden(path.child('spec', 'ephemeralContainers'), text))
  }
  return errors
}

/** Checks the annotations that affect a pod. */
export function validatePodAnnotations(
  annotations: Readonly<Record<string, string>> | undefined,
  spec: PodSpec,
  path: FieldPath,
  errors: FieldError[],
): void {
  if (!annotations) return
  const mirror = annotations[mirrorKey]
  if (mirror !== undefined && !spec.nodeName) {
    errors.push(invalid(path.key(mirrorKey), mirror, 'must set spec.nodeName if mirror pod annotation is set'))
  }
  const cost = annotations[deletionCostKey]
  if (cost !== undefined && !isInt32(cost)) {
    errors.push(invalid(path.key(deletionCostKey), cost, 'must be a 32bit integer'))
  }
  let names: Set<string | undefined> | undefined
  for (const [key, value] of Object.entries(annotations)) {
    if (key === seccompPodKey || key.startsWith(seccompContainerPrefix)) checkSeccomp(value, path.child(key), errors)
    if (key.startsWith(appArmorPrefix)) {
      const container = key.slice(appArmorPrefix.length)
      names ??= containerNames(spec, path)
      if (!names.has(container)) errors.push(invalid(path.key(key), container, 'container not found'))
      if (!['', 'runtime/default', 'unconfined'].includes(value) && !value.startsWith('localhost/')) {
        errors.push(invalid(path.key(key), value, `invalid AppArmor profile name: ${goQuote(value)}`))
      }
    }
  }
}

function containerNames(spec: PodSpec, path: FieldPath): Set<string | undefined> {
  const names = new Set<string | undefined>()
  visitContainers(spec, path, ({ name }) => void names.add(name))
  return names
}

function isInt32(text: string): boolean {
  // An int32 in canonical form: no leading zeros and no plus sign.
  return /^(0|-?[1-9]\d{0,9})$/.test(text) && Number(text) === (Number(text) | 0)
}

function checkSeccomp(profile: string, path: FieldPath, errors: FieldError[]): void {
  if (['runtime/default', 'docker/default', 'unconfined'].includes(profile)) return
  if (profile.startsWith('localhost/')) checkDescendingPath(errors, path, profile.slice('localhost/'.length))
  else errors.push(invalid(path, profile, 'must be a valid seccomp profile'))
}
