import { deepCopy, inclusiveRangeMessage } from '@kubewright/base'
import { type FieldError, FieldPath, forbidden, invalid, required } from '@kubewright/schema'
import { goShown, goValueOf } from '../../../../codec/json/go-value.ts'
import { jsonDiff } from '../../../../codec/json/json-diff.ts'
import type { MutableObject } from '../../../../resource/object.ts'
import { semanticEqual } from '../../../../resource/semantic-equal.ts'
import type { Container, PodSpec } from '../pod-types.ts'
import { validatePodAnnotations } from '../template/validate-pod-template.ts'
import { checkImageBlanks } from './containers/validate-container.ts'
import { validatePodSpec } from './validate-pod-spec.ts'
import { validateAppArmorMatch, validateSeccompMatch } from './validate-profile-annotations.ts'
import { validateTolerations } from './validate-scheduling.ts'

const specPath = FieldPath.of('spec')
const annotationsPath = FieldPath.of('metadata', 'annotations')
const maxInt32 = 2_147_483_647
const mutable = [
  '`spec.containers[*].image`',
  '`spec.initContainers[*].image`',
  '`spec.activeDeadlineSeconds`',
  '`spec.tolerations` (only additions to existing tolerations)',
  '`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)',
].join(',')

/** The spec of a decoded pod. */
export function podSpecOf(pod: MutableObject): PodSpec {
  return (pod['spec'] ?? {}) as PodSpec
}

/** Checks a new pod. */
export function validatePodCreate(pod: MutableObject): FieldError[] {
  const errors = validateAnnotationsAndSpec(pod)
  const spec = podSpecOf(pod)
  if ((spec.ephemeralContainers ?? []).length > 0) {
    errors.push(forbidden(specPath.child('ephemeralContainers'), 'cannot be set on create'))
  }
  if (spec.nodeName && (spec.schedulingGates ?? []).length > 0) {
    errors.push(forbidden(specPath.child('nodeName'), 'cannot be set until all schedulingGates have been cleared'))
  }
  validateSeccompMatch(pod.metadata, spec, specPath, errors)
  validateAppArmorMatch(pod.metadata, spec, specPath, errors)
  return errors
}

/** The checks that creates and updates of a pod share. */
export function validateAnnotationsAndSpec(pod: MutableObject): FieldError[] {
  const errors: FieldError[] = []
  const spec = podSpecOf(pod)
  validatePodAnnotations(pod.metadata.annotations, spec, annotationsPath, errors)
  validatePodSpec(spec, specPath, { podMeta: pod.metadata }, errors)
  if (!spec.serviceAccountName) {
    for (const [i, { projected }] of (spec.volumes ?? []).entries()) {
      for (const [j, source] of (projected?.sources ?? []).entries()) {
        if (!source.serviceAccountToken) continue
        const at = specPath
          .child('volumes')
          .index(i)
          .child('projected', 'sources')
          .index(j)
          .child('serviceAccountToken')
        errors.push(forbidden(at, 'must not be specified when serviceAccountName is not set'))
      }
    }
  }
  for (const list of ['containers', 'initContainers'] as const) {
    for (const [i, container] of (spec[list] ?? []).entries()) {
      checkImageBlanks(container, specPath.child(list).index(i), errors)
    }
  }
  return errors
}

/** Checks that an update leaves immutable annotations unchanged, and checks the annotations that affect the pod. */
export function validateAnnotationsUpdate(pod: MutableObject, old: MutableObject, errors: FieldError[]): void {
  const after = pod.metadata.annotations ?? {}
  const before = old.metadata.annotations ?? {}
  const guarded = (key: string): string | undefined =>
    key.startsWith('container.apparmor.security.beta.kubernetes.io/')
      ? 'AppArmor annotations'
      : key === 'kubernetes.io/config.mirror'
        ? 'mirror pod annotation'
        : undefined
  for (const [key, value] of Object.entries(before)) {
    const what = guarded(key)
    if (what && after[key] !== value)
      errors.push(forbidden(annotationsPath.key(key), `may not remove or update ${what}`))
  }
  for (const key of Object.keys(after)) {
    const what = guarded(key)
    if (what && !(key in before)) errors.push(forbidden(annotationsPath.key(key), `may not add ${what}`))
  }
  validatePodAnnotations(after, podSpecOf(pod), annotationsPath, errors)
}

/** Checks an update of a pod. Nearly all of the spec is immutable. */
export function validatePodUpdate(pod: MutableObject, old: MutableObject): FieldError[] {
  const errors = validateAnnotationsAndSpec(pod)
  validateAnnotationsUpdate(pod, old, errors)
  const spec = podSpecOf(pod)
  const before = podSpecOf(old)
  for (const list of ['containers', 'initContainers'] as const) {
    if (!checkContainers(spec[list] ?? [], before[list] ?? [], specPath.child(list), errors)) return errors
  }
  if (!checkDeadline(spec.activeDeadlineSeconds, before.activeDeadlineSeconds, errors)) return errors
  checkTolerations(spec, before, errors)
  checkGates(spec, before, errors)
  if (semanticEqual(spec, before)) return errors
  const munged = withoutMutable(spec, before, errors)
  if (!semanticEqual(munged, before)) {
    const diff = jsonDiff(goValueOf('PodSpec', before), goValueOf('PodSpec', munged))
    errors.push(forbidden(specPath, `pod updates may not change fields other than ${mutable}\n${diff}`))
  }
  return errors
}

/** Checks the images of containers. Returns false when the lists differ in length, so that further checks would be misleading. */
function checkContainers(
  containers: readonly Container[],
  before: readonly Container[],
  path: FieldPath,
  errors: FieldError[],
): boolean {
  if (containers.length !== before.length) {
    errors.push(forbidden(path, 'pod updates may not add or remove containers'))
    return false
  }
  for (const [i, container] of containers.entries()) {
    if (!container.image) errors.push(required(path.index(i).child('image')))
    checkImageBlanks(container, path.index(i), errors)
  }
  return true
}

/** Checks that the deadline is set once and then only shortened. */
function checkDeadline(seconds: number | undefined, before: number | undefined, errors: FieldError[]): boolean {
  const at = specPath.child('activeDeadlineSeconds')
  if (seconds === undefined) {
    if (before !== undefined) {
      errors.push(invalid(at, null, 'must not update from a positive integer to nil value'))
    }
    return true
  }
  if (seconds < 0 || seconds > maxInt32) {
    errors.push(invalid(at, seconds, inclusiveRangeMessage(0, maxInt32)))
    return false
  }
  if (before !== undefined && before < seconds) {
    errors.push(invalid(at, seconds, 'must be less than or equal to previous value'))
    return false
  }
  return true
}

function checkTolerations(spec: PodSpec, before: PodSpec, errors: FieldError[]): void {
  const at = specPath.child('tolerations')
  const now = spec.tolerations ?? []
  const identityOf = ({ key, operator, value, effect }: (typeof now)[number]): string =>
    JSON.stringify([key ?? '', operator ?? '', value ?? '', effect ?? ''])
  const kept = new Set(now.map(identityOf))
  for (const old of before.tolerations ?? []) {
    if (kept.has(identityOf(old))) continue
    errors.push(forbidden(at, 'existing toleration can not be modified except its tolerationSeconds'))
    return
  }
  validateTolerations(now, at, errors)
}

function checkGates(spec: PodSpec, before: PodSpec, errors: FieldError[]): void {
  const known = new Set((before.schedulingGates ?? []).map(({ name }) => name))
  for (const [i, { name }] of (spec.schedulingGates ?? []).entries()) {
    if (known.has(name)) continue
    const text = `only deletion is allowed, but found new scheduling gate '${name}'`
    errors.push(forbidden(specPath.child('schedulingGates').index(i).child('name'), text))
  }
}

/** The new spec with its mutable fields restored: any remaining difference is forbidden. */
function withoutMutable(spec: PodSpec, before: PodSpec, errors: FieldError[]): PodSpec {
  const munged = deepCopy(spec) as PodSpec
  const restore = <K extends keyof PodSpec>(field: K): void => {
    if (before[field] === undefined) delete munged[field]
    else munged[field] = before[field]
  }
  for (const list of ['containers', 'initContainers'] as const) {
    for (const [i, container] of (munged[list] ?? []).entries()) container.image = before[list]?.[i]?.image
  }
  restore('activeDeadlineSeconds')
  restore('schedulingGates')
  restore('tolerations')
  if ((before.terminationGracePeriodSeconds ?? 0) < 0 && munged.terminationGracePeriodSeconds === 1) {
    restore('terminationGracePeriodSeconds')
  }
  if ((before.schedulingGates ?? []).length === 0) return munged
  // While a pod has scheduling gates, an update may narrow the choice of nodes.
  if (!semanticEqual(munged.nodeSelector ?? {}, before.nodeSelector ?? {})) {
    const lost = Object.entries(before.nodeSelector ?? {}).some(([key, value]) => munged.nodeSelector?.[key] !== value)
    if (lost) {
      const text = 'only additions to spec.nodeSelector are allowed (no mutations or deletions)'
      errors.push(invalid(specPath.child('nodeSelector'), munged.nodeSelector ?? {}, text))
    }
    restore('nodeSelector')
  }
  if (!semanticEqual(munged.affinity?.nodeAffinity ?? null, before.affinity?.nodeAffinity ?? null)) {
    checkNodeAffinity(munged, before, errors)
    const { nodeAffinity: _, ...others } = munged.affinity ?? {}
    const restored = {
      ...others,
      ...(before.affinity?.nodeAffinity ? { nodeAffinity: before.affinity.nodeAffinity } : {}),
    }
    if (Object.keys(restored).length === 0 && !before.affinity) delete munged.affinity
    else munged.affinity = restored
  }
  return munged
}

/** Checks that an update only narrows the terms of the node affinity, by appending requirements. */
function checkNodeAffinity(spec: PodSpec, before: PodSpec, errors: FieldError[]): void {
  const termsOf = ({ affinity }: PodSpec): NodeTerm[] =>
    affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []
  const at = specPath.child(
    'affinity',
    'nodeAffinity',
    'requiredDuringSchedulingIgnoredDuringExecution',
    'nodeSelectorTerms',
  )
  const old = termsOf(before)
  const now = termsOf(spec)
  if (old.length > 0 && old.length !== now.length) {
    const text = 'no additions/deletions to non-empty NodeSelectorTerms list are allowed'
    errors.push(invalid(at, now.length === 0 ? null : goShown('NodeSelectorTerm', now), text))
    return
  }
  for (const [i, term] of old.entries()) {
    const next = now[i] ?? {}
    const grown = (['matchExpressions', 'matchFields'] as const).every((field) => {
      const wanted = term[field] ?? []
      return semanticEqual((next[field] ?? []).slice(0, wanted.length), wanted)
    })
    const wasEmpty = !term.matchExpressions?.length && !term.matchFields?.length
    const isEmpty = !next.matchExpressions?.length && !next.matchFields?.length
    if (grown && (!wasEmpty || isEmpty)) continue
    errors.push(
      invalid(at.index(i), goShown('NodeSelectorTerm', next), 'only additions are allowed (no mutations or deletions)'),
    )
  }
}

interface NodeTerm {
  matchExpressions?: object[] | undefined
  matchFields?: object[] | undefined
}
