import { deepCopy } from '@kubewright/base'
import { type FieldError, FieldPath, forbidden, invalid } from '@kubewright/schema'
import { goValueOf } from '../../../../codec/json/go-value.ts'
import { jsonDiff } from '../../../../codec/json/json-diff.ts'
import type { MutableObject } from '../../../../resource/object.ts'
import { semanticEqual } from '../../../../resource/semantic-equal.ts'
import { podQosClass } from '../pod-qos.ts'
import type { Container, PodLike, ResourceList, ResourceRequirements } from '../pod-types.ts'
import { isSidecar } from '../resources/pod-resources.ts'
import { podSpecOf, validateAnnotationsAndSpec, validateAnnotationsUpdate } from './validate-pod.ts'

const specPath = FieldPath.of('spec')
const wholePod = FieldPath.of('')
const mirrorKey = 'kubernetes.io/config.mirror'

/** Checks a write through the subresource ephemeralcontainers, which can only add containers. */
export function validateEphemeralContainersUpdate(pod: MutableObject, old: MutableObject): FieldError[] {
  const errors = validateAnnotationsAndSpec(pod)
  validateAnnotationsUpdate(pod, old, errors)
  if (old.metadata.annotations?.[mirrorKey] !== undefined) {
    return [forbidden(wholePod, 'static pods do not support ephemeral containers')]
  }
  const at = specPath.child('ephemeralContainers')
  const now = new Map((podSpecOf(pod).ephemeralContainers ?? []).map((container) => [container.name, container]))
  for (const before of podSpecOf(old).ephemeralContainers ?? []) {
    const container = now.get(before.name)
    const name = JSON.stringify(before.name)
    if (!container) errors.push(forbidden(at, `existing ephemeral containers ${name} may not be removed\n`))
    else if (!semanticEqual(before, container)) {
      const diff = jsonDiff(goValueOf('EphemeralContainer', before), goValueOf('EphemeralContainer', container))
      errors.push(forbidden(at, `existing ephemeral containers ${name} may not be changed\n${diff}`))
    }
  }
  return errors
}

/** Checks a write through the subresource resize, which can change CPU and memory but not remove them. */
export function validatePodResize(pod: MutableObject, old: MutableObject): FieldError[] {
  const errors = validateAnnotationsAndSpec(pod)
  const spec = podSpecOf(pod)
  const before = podSpecOf(old)
  if (old.metadata.annotations?.[mirrorKey] !== undefined) return [forbidden(wholePod, 'static pods cannot be resized')]
  if (before.os?.name === 'windows') return [forbidden(wholePod, 'windows pods cannot be resized')]
  const status = old['status'] as PodLike['status']
  if ((status?.qosClass || podQosClass(before)) !== podQosClass(spec)) {
    const shown = (pod['status'] as PodLike['status'])?.qosClass ?? ''
    errors.push(invalid(specPath, shown, 'Pod QOS Class may not change as a result of resizing'))
  }
  const started = status?.containerStatuses ?? []
  // The node supports resizing if it reports the resources of the first running container.
  const running = started.find(({ state }) => state?.running)
  if (running && running.resources === undefined)
    errors.push(forbidden(specPath, 'Pod running on node without support for resize'))
  const podLevel = [before, spec].some(({ resources: own }) => hasEntries(own?.limits) || hasEntries(own?.requests))
  if (podLevel) {
    const gate = 'InPlacePodLevelResourcesVerticalScalingEnabled feature gate is disabled'
    errors.push(forbidden(wholePod, `resize of pods with pod-level resources is forbidden when ${gate}`))
    return errors
  }
  const ordered = errors.length
  for (const list of ['containers', 'initContainers'] as const) {
    const [now, then] = [spec[list] ?? [], before[list] ?? []]
    const at = specPath.child(list)
    if (now.length !== then.length) errors.push(forbidden(at, `${list} may not be added or removed on resize`))
    else {
      for (const [i, { name }] of then.entries()) {
        if (now[i]!.name === name) continue
        errors.push(forbidden(at.index(i).child('name'), `${list} may not be renamed or reordered on resize`))
      }
    }
  }
  // The checks below compare containers by index.
  if (errors.length > ordered) return errors
  for (const list of ['initContainers', 'containers'] as const) {
    for (const [i, container] of (before[list] ?? []).entries()) {
      if (list === 'initContainers' && !isSidecar(container)) continue
      const at = specPath.child(list).index(i).child('resources')
      checkNothingRemoved(spec[list]![i]!.resources ?? {}, container.resources ?? {}, at, errors)
    }
  }
  for (const list of ['containers', 'initContainers'] as const) {
    for (const [i, container] of (spec[list] ?? []).entries()) {
      const then = before[list]![i]!
      const sidecar = isSidecar(container)
      const compared = list === 'containers' || sidecar ? withComputeOf(container, then) : container
      if (semanticEqual(compared, then)) continue
      const text =
        list === 'containers'
          ? 'only cpu and memory resources are mutable'
          : sidecar
            ? 'only cpu and memory resources for sidecar containers are mutable'
            : 'resources for non-sidecar init containers are immutable'
      errors.push(forbidden(specPath, text))
    }
  }
  return errors
}

function hasEntries(list: ResourceList | undefined): boolean {
  return Object.keys(list ?? {}).length > 0
}

function checkNothingRemoved(
  now: ResourceRequirements,
  then: ResourceRequirements,
  path: FieldPath,
  errors: FieldError[],
): void {
  for (const list of ['requests', 'limits'] as const) {
    const removed = Object.keys(then[list] ?? {}).some((name) => now[list]?.[name] === undefined)
    if (removed) errors.push(forbidden(path.child(list), `resource ${list} cannot be removed`))
  }
}

/** The container with the CPU and memory that it had before. */
function withComputeOf(container: Container, then: Container): Container {
  const copy = deepCopy(container) as Container
  const resources: ResourceRequirements = (copy.resources ??= {})
  for (const list of ['requests', 'limits'] as const) {
    const amounts: ResourceList = { ...resources[list] }
    for (const name of ['cpu', 'memory']) {
      const amount = then.resources?.[list]?.[name]
      if (amount === undefined) delete amounts[name]
      else amounts[name] = amount
    }
    if (Object.keys(amounts).length > 0) resources[list] = amounts
    else delete resources[list]
  }
  return copy
}
