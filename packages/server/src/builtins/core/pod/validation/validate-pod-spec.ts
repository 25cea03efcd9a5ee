import {
  append,
  inclusiveRangeMessage,
  isDNS1123Subdomain,
  isDNS1123SubdomainWithUnderscore,
  nameIsDNSSubdomain,
} from '@kubewright/base'
import {
  duplicate,
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  notFound,
  required,
  tooLong,
  validateLabels,
} from '@kubewright/schema'
import { goShown } from '../../../../codec/json/go-value.ts'
import type { MutableMeta } from '../../../../resource/object.ts'
import { addInvalid, checkEnum, checkLabel, checkQualifiedName, checkSubdomain } from '../../../checks/field-checks.ts'
import { checkLegacyIp } from '../../../checks/ip-checks.ts'
import type { PodSpec } from '../pod-types.ts'
import { visitContainers } from '../visit-containers.ts'
import {
  validateContainers,
  validateEphemeralContainers,
  validateInitContainers,
} from './containers/validate-container.ts'
import { validateContainerResources, validatePodResources } from './containers/validate-resources.ts'
import { validateHostProcess, validateOperatingSystem } from './validate-operating-system.ts'
import { validateAffinity, validateTolerations, validateTopologySpread } from './validate-scheduling.ts'
import { validatePodSecurityContext } from './validate-security-context.ts'
import { validateVolumes } from './volumes/validate-volumes.ts'

/** Options of {@link validatePodSpec}. */
export interface PodSpecOptions {
  /** Metadata of the pod; undefined for a pod template. */
  readonly podMeta?: MutableMeta | undefined
}

const maxInt32 = 2_147_483_647

/** Checks the spec of a pod or a pod template whose defaults are filled (core/validation, ValidatePodSpec). */
export function validatePodSpec(
  spec: PodSpec,
  path: FieldPath,
  { podMeta }: PodSpecOptions,
  errors: FieldError[],
): void {
  if (spec.terminationGracePeriodSeconds === undefined)
    errors.push(required(path.child('terminationGracePeriodSeconds')))
  const isPod = podMeta !== undefined
  const volumes = validateVolumes(spec.volumes ?? [], podMeta, isPod, path.child('volumes'), errors)
  const claimNames = new Set((spec.resourceClaims ?? []).map(({ name }) => name ?? '').filter((name) => name !== ''))
  validateResourceClaims(spec, podMeta, path.child('resourceClaims'), errors)
  const context = { spec, volumes, claimNames, hostUsers: spec.hostUsers !== false }
  validateContainers(context, path.child('containers'), errors)
  validateInitContainers(context, path.child('initContainers'), errors)
  validateEphemeralContainers(context, path.child('ephemeralContainers'), errors)
  validatePodResources(spec, claimNames, path, errors)
  validateHostPorts(spec, isPod, path, errors)
  checkEnum(errors, path.child('restartPolicy'), spec.restartPolicy, ['Always', 'OnFailure', 'Never'], true)
  const dnsPolicies = ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None']
  checkEnum(errors, path.child('dnsPolicy'), spec.dnsPolicy, dnsPolicies, true)
  append(errors, validateLabels(spec.nodeSelector as Record<string, string> | undefined, path.child('nodeSelector')))
  validatePodSecurityContext(spec, path.child('securityContext'), errors)
  validateAffinity(spec.affinity, path.child('affinity'), errors)
  validateDnsConfig(spec, path.child('dnsConfig'), errors)
  for (const [i, gate] of (spec.readinessGates ?? []).entries()) {
    checkQualifiedName(errors, path.child('readinessGates').index(i).child('conditionType'), gate.conditionType ?? '')
  }
  validateSchedulingGates(spec, path.child('schedulingGates'), errors)
  validateTopologySpread(spec.topologySpreadConstraints ?? [], path.child('topologySpreadConstraints'), errors)
  validateHostProcess(spec, path, errors)
  validateHostUsers(spec, path, errors)
  validateHostnames(spec, path, errors)
  validateTolerations(spec.tolerations ?? [], path.child('tolerations'), errors)
  validateHostAliases(spec, path.child('hostAliases'), errors)
  checkName(errors, path.child('priorityClassName'), spec.priorityClassName || undefined)
  checkName(errors, path.child('runtimeClassName'), spec.runtimeClassName)
  if (spec.preemptionPolicy !== undefined) {
    checkEnum(errors, path.child('preemptionPolicy'), spec.preemptionPolicy, ['PreemptLowerPriority', 'Never'], true)
  }
  if (spec.overhead) {
    validateContainerResources({ limits: spec.overhead }, new Set(), path.child('overhead'), errors)
  }
  validateOperatingSystem(spec, path, errors)
  validateFileKeys(spec, path, errors)
}

function checkName(errors: FieldError[], path: FieldPath, name: string | undefined): void {
  if (name !== undefined) addInvalid(errors, path, name, nameIsDNSSubdomain(name, false))
}

function validateResourceClaims(
  spec: PodSpec,
  podMeta: MutableMeta | undefined,
  path: FieldPath,
  errors: FieldError[],
): void {
  const names = new Set<string>()
  for (const [i, claim] of (spec.resourceClaims ?? []).entries()) {
    const at = path.index(i)
    if (podMeta?.annotations?.['kubernetes.io/config.mirror'] !== undefined) {
      errors.push(forbidden(at.root().child(''), 'static pods do not support resource claims'))
      continue
    }
    const { name = '', resourceClaimName, resourceClaimTemplateName } = claim
    if (name === '') errors.push(required(at.child('name')))
    else if (names.has(name)) errors.push(duplicate(at.child('name'), name))
    else {
      checkLabel(errors, at.child('name'), name)
      names.add(name)
    }
    const shown = (): unknown => goShown('PodResourceClaim', claim)
    if (resourceClaimName !== undefined && resourceClaimTemplateName !== undefined) {
      const text = 'at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified'
      errors.push(invalid(at, shown(), text))
    }
    if (resourceClaimName === undefined && resourceClaimTemplateName === undefined) {
      const text = 'must specify one of: `resourceClaimName`, `resourceClaimTemplateName`'
      errors.push(invalid(at, shown(), text))
    }
    checkName(errors, at.child('resourceClaimName'), resourceClaimName)
    checkName(errors, at.child('resourceClaimTemplateName'), resourceClaimTemplateName)
  }
}

/** Checks that a pod in the host network uses the same numbers for container ports and host ports. */
function validateHostPorts(spec: PodSpec, isPod: boolean, path: FieldPath, errors: FieldError[]): void {
  if (!spec.hostNetwork) return
  for (const [i, { ports }] of (spec.containers ?? []).entries()) {
    for (const [j, { hostPort = 0, containerPort = 0 }] of (ports ?? []).entries()) {
      if ((!isPod && hostPort === 0) || hostPort === containerPort) continue
      const at = path.child('containers').index(i).child('ports').index(j).child('hostPort')
      errors.push(invalid(at, hostPort, 'must match `containerPort` when `hostNetwork` is true'))
    }
  }
}

function validateSchedulingGates(spec: PodSpec, path: FieldPath, errors: FieldError[]): void {
  const seen = new Set<string>()
  for (const [i, { name = '' }] of (spec.schedulingGates ?? []).entries()) {
    checkQualifiedName(errors, path.index(i), name)
    if (seen.has(name)) errors.push(duplicate(path.index(i), name))
    seen.add(name)
  }
}

function validateDnsConfig({ dnsConfig, dnsPolicy }: PodSpec, path: FieldPath, errors: FieldError[]): void {
  if (dnsPolicy === 'None') {
    if (!dnsConfig) {
      errors.push(required(path, 'must provide `dnsConfig` when `dnsPolicy` is None'))
      return
    }
    if ((dnsConfig.nameservers ?? []).length === 0) {
      const text = 'must provide at least one DNS nameserver when `dnsPolicy` is None'
      errors.push(required(path.child('nameservers'), text))
      return
    }
  }
  if (!dnsConfig) return
  const { nameservers = [], searches = [], options = [] } = dnsConfig
  if (nameservers.length > 3) {
    errors.push(invalid(path.child('nameservers'), nameservers, 'must not have more than 3 nameservers'))
  }
  for (const [i, server] of nameservers.entries()) checkLegacyIp(errors, path.child('nameservers').index(i), server)
  const searchPath = path.child('searches')
  if (searches.length > 32) errors.push(invalid(searchPath, searches, 'must not have more than 32 search paths'))
  if (searches.join(' ').length > 2048) {
    const text = 'must not have more than 2048 characters (including spaces) in the search list'
    errors.push(invalid(searchPath, searches, text))
  }
  for (const [i, search] of searches.entries()) {
    if (search === '.') continue
    const name = search.replace(/\.$/, '')
    addInvalid(errors, searchPath.index(i), name, isDNS1123SubdomainWithUnderscore(name))
  }
  for (const [i, { name }] of options.entries()) {
    if (!name) errors.push(required(path.child('options').index(i), 'must not be empty'))
  }
}

function validateHostUsers(spec: PodSpec, path: FieldPath, errors: FieldError[]): void {
  if (spec.hostUsers !== false) return
  const text = 'when `hostUsers` is false'
  if (spec.hostNetwork) errors.push(forbidden(path.child('hostNetwork'), text))
  if (spec.hostPID) errors.push(forbidden(path.child('HostPID'), text))
  if (spec.hostIPC) errors.push(forbidden(path.child('HostIPC'), text))
  visitContainers(spec, path, (container, at) => {
    if ((container.volumeDevices ?? []).length > 0) errors.push(forbidden(at.child('volumeDevices'), text))
  })
}

function validateHostnames(spec: PodSpec, path: FieldPath, errors: FieldError[]): void {
  const override = spec.hostnameOverride
  if (override !== undefined) {
    const at = path.child('hostnameOverride')
    if (spec.setHostnameAsFQDN) errors.push(forbidden(at, 'may not be specified when setHostnameAsFQDN is true'))
    if (spec.hostNetwork) errors.push(forbidden(at, 'may not be specified when hostNetwork is true'))
    if (override.length > 64) errors.push(tooLong(at, 64))
    addInvalid(errors, at, override, isDNS1123Subdomain(override))
  }
  checkName(errors, path.child('serviceAccountName'), spec.serviceAccountName || undefined)
  checkName(errors, path.child('nodeName'), spec.nodeName || undefined)
  const seconds = spec.activeDeadlineSeconds
  if (seconds !== undefined && (seconds < 1 || seconds > maxInt32)) {
    errors.push(invalid(path.child('activeDeadlineSeconds'), seconds, inclusiveRangeMessage(1, maxInt32)))
  }
  if (spec.hostname) checkLabel(errors, path.child('hostname'), spec.hostname)
  if (spec.subdomain) checkLabel(errors, path.child('subdomain'), spec.subdomain)
}

function validateHostAliases(spec: PodSpec, path: FieldPath, errors: FieldError[]): void {
  for (const [i, { ip = '', hostnames = [] }] of (spec.hostAliases ?? []).entries()) {
    checkLegacyIp(errors, path.index(i).child('ip'), ip)
    for (const [j, name] of hostnames.entries()) {
      checkSubdomain(errors, path.index(i).child('hostnames').index(j), name)
    }
  }
}

/** Checks that environment variables are read from files in emptyDir volumes only. */
function validateFileKeys(spec: PodSpec, path: FieldPath, errors: FieldError[]): void {
  // The first volume of each name.
  const volumes = new Map((spec.volumes ?? []).map((volume) => [volume.name, volume] as const).reverse())
  visitContainers(spec, path, (container, at) => {
    for (const [i, { valueFrom }] of (container.env ?? []).entries()) {
      if (!valueFrom?.fileKeyRef) continue
      const name = valueFrom.fileKeyRef.volumeName ?? ''
      const where = at.child('env').index(i).child('valueFrom', 'fileKeyRef', 'volumeName')
      const volume = volumes.get(name)
      if (!volume) errors.push(notFound(where, name))
      else if (!volume.emptyDir) errors.push(invalid(where, name, 'referenced volume must be of type emptyDir'))
    }
  })
}
