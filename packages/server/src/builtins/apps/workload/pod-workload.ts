import { append, isDNS1123Label } from '@kubewright/base'
import { type FieldError, type FieldPath, forbidden, invalid, required } from '@kubewright/schema'
import type { MutableObject } from '../../../resource/object.ts'
import { unsupported } from '../../checks/field-checks.ts'
import {
  checkSelector,
  selectorSize,
  selectorValue,
  trySelector,
  type UncheckedSelector,
} from '../../checks/strategy-checks.ts'
import type { PodTemplate } from '../../core/pod/pod-types.ts'
import { validatePodTemplateSpec } from '../../core/pod/template/validate-pod-template.ts'

/** Checks that a workload has a selector that is not empty. `kind` is the kind that the error message names. */
export function checkWorkloadSelector(
  errors: FieldError[],
  path: FieldPath,
  selector: UncheckedSelector,
  kind: string,
): void {
  if (!selector) {
    errors.push(required(path))
    return
  }
  checkSelector(errors, path, selector)
  if (selectorSize(selector) === 0) {
    errors.push(invalid(path, selectorValue(selector), `empty selector is invalid for ${kind}`))
  }
}

/** Checks the selector and the pod template of a Deployment or a ReplicaSet. */
export function checkReplicatedTemplate(
  errors: FieldError[],
  path: FieldPath,
  selector: UncheckedSelector,
  template: PodTemplate,
): void {
  const selects = trySelector(selector)
  if (!selects) {
    errors.push(invalid(path.child('selector'), selectorValue(selector), 'invalid label selector'))
    return
  }
  const at = path.child('template')
  if (!selects.isEverything) checkSelected(errors, at, selector, template)
  append(errors, validatePodTemplateSpec(template, at))
  checkAlwaysRestarts(errors, at.child('spec'), template, 'ReplicaSet')
}

/** Checks that the selector of a workload matches the labels of its pod template. */
export function checkSelected(
  errors: FieldError[],
  path: FieldPath,
  selector: UncheckedSelector,
  template: PodTemplate,
): void {
  const { labels } = template.metadata ?? {}
  if (trySelector(selector)?.matches(labels ?? {}) !== false) return
  const text = '`selector` does not match template `labels`'
  errors.push(invalid(path.child('metadata', 'labels'), labels ?? null, text))
}

/** Checks that the pods of a workload run until they are deleted: they always restart and have no deadline. */
export function checkAlwaysRestarts(
  errors: FieldError[],
  path: FieldPath,
  { spec = {} }: PodTemplate,
  kind: string,
): void {
  if (spec.restartPolicy !== 'Always') {
    errors.push(unsupported(path.child('restartPolicy'), spec.restartPolicy ?? '', ['Always']))
  }
  if (spec.activeDeadlineSeconds !== undefined) {
    const text = `activeDeadlineSeconds in ${kind} is not Supported`
    errors.push(forbidden(path.child('activeDeadlineSeconds'), text))
  }
}

/** Warns about a name that is no DNS label: the names and host names of pods are derived from it. */
export function podNameWarnings({ metadata }: MutableObject): string[] {
  const messages = isDNS1123Label(metadata.name ?? '')
  if (messages.length === 0) return []
  return [
    'metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; ' +
      `a DNS label is recommended: [${messages.join(' ')}]`,
  ]
}
