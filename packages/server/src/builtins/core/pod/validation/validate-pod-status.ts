import { nameIsDNSSubdomain } from '@kubewright/base'
import { duplicate, type FieldError, FieldPath, forbidden, invalid } from '@kubewright/schema'
import type { MutableObject } from '../../../../resource/object.ts'
import { addInvalid, checkQualifiedName } from '../../../checks/field-checks.ts'
import { checkLegacyIp } from '../../../checks/ip-checks.ts'
import { isDualStack } from '../../../checks/ip-families.ts'
import type { Container, PodLike, PodSpec } from '../pod-types.ts'
import { podSpecOf, validateAnnotationsUpdate } from './validate-pod.ts'

type PodStatus = NonNullable<PodLike['status']>
type ContainerStatus = NonNullable<PodStatus['containerStatuses']>[number]

const statusPath = FieldPath.of('status')
const systemConditions = ['PodScheduled', 'Ready', 'Initialized']

/** Checks a write of a pod's status. */
export function validatePodStatusUpdate(pod: MutableObject, old: MutableObject): FieldError[] {
  const errors: FieldError[] = []
  validateAnnotationsUpdate(pod, old, errors)
  const status = (pod['status'] ?? {}) as PodStatus
  const before = (old['status'] ?? {}) as PodStatus
  const spec = podSpecOf(old)
  for (const [i, condition] of (status.conditions ?? []).entries()) {
    const at = statusPath.child('conditions').index(i)
    if ((condition.observedGeneration ?? 0) < 0) {
      errors.push(
        invalid(at.child('observedGeneration'), condition.observedGeneration, 'must be a non-negative integer'),
      )
    }
    const type = condition.type ?? ''
    if (!systemConditions.includes(type)) checkQualifiedName(errors, at.child('Type'), type)
  }
  const nominated = status.nominatedNodeName ?? ''
  if (nominated !== '' && nominated !== before.nominatedNodeName) {
    const at = statusPath.child('nominatedNodeName')
    addInvalid(errors, at, nominated, nameIsDNSSubdomain(nominated, false))
    if (spec.nodeName) errors.push(forbidden(at, 'may not be set on pods that are already bound to a node'))
  }
  if ((status.observedGeneration ?? 0) < 0) {
    const at = statusPath.child('observedGeneration')
    errors.push(invalid(at, status.observedGeneration, 'must be a non-negative integer'))
  }
  if ((status.qosClass ?? '') !== (before.qosClass ?? '')) {
    errors.push(invalid(statusPath.child('qosClass'), status.qosClass ?? '', 'field is immutable'))
  }
  checkTransitions(status, before, spec, errors)
  checkClaimStatuses(status, spec, errors)
  checkAddresses(status.podIPs, before.podIPs, 'podIPs', errors)
  if (status.hostIPs?.[0] && status.hostIP !== status.hostIPs[0].ip) {
    const at = statusPath.child('hostIPs').index(0).child('ip')
    errors.push(invalid(at, status.hostIPs[0].ip ?? '', 'must be equal to `hostIP`'))
  }
  checkAddresses(status.hostIPs, before.hostIPs, 'hostIPs', errors)
  return errors
}

/** Checks that a terminated container stays terminated unless its restart policy allows a restart. */
function checkTransitions(status: PodStatus, before: PodStatus, spec: PodSpec, errors: FieldError[]): void {
  const check = (
    field: 'containerStatuses' | 'initContainerStatuses' | 'ephemeralContainerStatuses',
    mayRestart: (name: string, exitCode: number) => boolean,
  ): void => {
    const current = firstByName(status[field] ?? [])
    for (const [i, old] of (before[field] ?? []).entries()) {
      const ended = (old as ContainerStatus).state?.terminated
      if (!ended) continue
      const now = current.get(old.name)
      if (!now || now.state?.terminated || mayRestart(old.name ?? '', ended.exitCode ?? 0)) continue
      const at = statusPath.child(field).index(i).child('state')
      errors.push(forbidden(at, 'may not be transitioned to non-terminated state'))
    }
  }
  const byPolicy = (list: readonly Container[]): ((name: string, exitCode: number) => boolean) => {
    const containers = firstByName(list)
    return (name, exitCode) => {
      const container = containers.get(name)
      return container !== undefined && restarts(container, spec, exitCode)
    }
  }
  check('containerStatuses', byPolicy(spec.containers ?? []))
  check('initContainerStatuses', byPolicy(spec.initContainers ?? []))
  check('ephemeralContainerStatuses', () => false)
}

/** The first element of each name. */
function firstByName<T extends { readonly name?: string | undefined }>(list: readonly T[]): Map<string | undefined, T> {
  const byName = new Map<string | undefined, T>()
  for (const element of list) if (!byName.has(element.name)) byName.set(element.name, element)
  return byName
}

function restarts(container: Container, spec: PodSpec, exitCode: number): boolean {
  if (container.restartPolicy !== undefined) {
    for (const { action, exitCodes } of container.restartPolicyRules ?? []) {
      const listed = (exitCodes?.values ?? []).includes(exitCode)
      if (exitCodes && listed === (exitCodes.operator === 'In')) return action === 'Restart'
    }
  }
  const policy = container.restartPolicy ?? spec.restartPolicy
  return policy === 'Always' || (policy === 'OnFailure' && exitCode !== 0)
}

function checkClaimStatuses(status: PodStatus, spec: PodSpec, errors: FieldError[]): void {
  const claims = new Set((spec.resourceClaims ?? []).map((claim) => claim.name))
  const seen = new Set<string>()
  for (const [i, { name = '', resourceClaimName }] of (status.resourceClaimStatuses ?? []).entries()) {
    const at = statusPath.child('resourceClaimStatuses').index(i).child('name')
    if (!claims.has(name)) {
      errors.push(invalid(at, name, 'must match the name of an entry in `spec.resourceClaims`'))
    }
    if (seen.has(name)) errors.push(duplicate(at, name))
    seen.add(name)
    if (resourceClaimName !== undefined) {
      addInvalid(errors, at, resourceClaimName, nameIsDNSSubdomain(resourceClaimName, false))
    }
  }
}

function checkAddresses(
  addresses: { ip?: string | undefined }[] | undefined,
  before: { ip?: string | undefined }[] | undefined,
  field: string,
  errors: FieldError[],
): void {
  const at = statusPath.child(field)
  const known = new Set((before ?? []).map(({ ip }) => ip))
  const texts = (addresses ?? []).map(({ ip = '' }) => ip)
  for (const [i, ip] of texts.entries()) if (!known.has(ip)) checkLegacyIp(errors, at.index(i), ip)
  if (texts.length < 2 || (texts.length === 2 && isDualStack(texts))) return
  const shown = texts.map((ip) => ({ IP: ip }))
  errors.push(invalid(at, shown, 'may specify no more than one IP for each IP family'))
}
