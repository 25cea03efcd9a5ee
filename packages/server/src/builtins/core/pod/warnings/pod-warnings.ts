import { append, isDNS1123Label } from '@kubewright/base'
import { FieldPath } from '@kubewright/schema'
import { ipWarnings } from '../../../checks/ip-warnings.ts'
import { deprecatedNodeLabel, nodeSelectorTermWarnings } from '../../../checks/node-label-warnings.ts'
import { claimSpecWarnings } from '../../persistent-volume-claim/claim-spec.ts'
import type { Container, PodLike, PodSpec, PodTemplate, Volume } from '../pod-types.ts'
import { quantityOf } from '../resources/resource-list.ts'
import { visitContainers } from '../visit-containers.ts'
import { maxPodWarnings } from './max-pod-warnings.ts'
import { volumePathWarnings } from './volume-path-warnings.ts'

const deprecatedAnnotations: readonly (readonly [key: string, text: string])[] = [
  ['scheduler.alpha.kubernetes.io/critical-pod', 'non-functional in v1.16+; use the "priorityClassName" field instead'],
  ['security.alpha.kubernetes.io/sysctls', 'non-functional in v1.11+; use the "sysctls" field instead'],
  ['security.alpha.kubernetes.io/unsafe-sysctls', 'non-functional in v1.11+; use the "sysctls" field instead'],
]
const removedVolumes: readonly (readonly [source: keyof Volume, name: string, text: string])[] = [
  ['photonPersistentDisk', 'photonPersistentDisk', 'deprecated in v1.11, non-functional in v1.16+'],
  ['gitRepo', 'gitRepo', 'deprecated in v1.11, and disabled by default in v1.33+'],
  ['scaleIO', 'scaleIO', 'deprecated in v1.16, non-functional in v1.22+'],
  ['flocker', 'flocker', 'deprecated in v1.22, non-functional in v1.25+'],
  ['storageos', 'storageOS', 'deprecated in v1.22, non-functional in v1.25+'],
  ['quobyte', 'quobyte', 'deprecated in v1.22, non-functional in v1.25+'],
  ['glusterfs', 'glusterfs', 'deprecated in v1.25, non-functional in v1.26+'],
  ['cephfs', 'cephfs', 'deprecated in v1.28, non-functional in v1.31+'],
  ['rbd', 'rbd', 'deprecated in v1.28, non-functional in v1.31+'],
]
const seccompPod = 'seccomp.security.alpha.kubernetes.io/pod'
const seccompContainer = 'container.seccomp.security.alpha.kubernetes.io/'
const appArmorContainer = 'container.apparmor.security.beta.kubernetes.io/'
const seccompText = 'non-functional in v1.27+; use the "seccompProfile" field instead'

/** The warnings for the creation of a pod. */
export function podWarnings(pod: PodLike): string[] {
  const warnings: string[] = []
  const problems = isDNS1123Label(pod.metadata?.name ?? '')
  if (problems.length > 0) {
    const text =
      "this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended"
    warnings.push(`metadata.name: ${text}: [${problems.join(' ')}]`)
  }
  return [...warnings, ...podSpecWarnings(pod, FieldPath.none)]
}

/** The warnings for a pod template. Callers skip them when an update has not changed the generation. */
export function podTemplateWarnings(template: PodTemplate, path: FieldPath): string[] {
  return podSpecWarnings(template, path)
}

function podSpecWarnings({ metadata, spec = {} }: PodTemplate, path: FieldPath): string[] {
  const warnings: string[] = []
  const isTemplate = path !== FieldPath.none
  const warn = (at: FieldPath, text: string): void => {
    warnings.push(`${at}: ${text}`)
  }
  const annotations = metadata?.annotations ?? {}
  const inSpec = path.child('spec')
  const inAnnotations = path.child('metadata', 'annotations')
  for (const key of Object.keys(spec.nodeSelector ?? {})) {
    const text = deprecatedNodeLabel(key)
    if (text) warn(inSpec.child('nodeSelector').key(key), text)
  }
  append(warnings, affinityWarnings(spec, inSpec))
  for (const [i, { topologyKey = '', labelSelector }] of (spec.topologySpreadConstraints ?? []).entries()) {
    const at = inSpec.child('topologySpreadConstraints').index(i)
    const text = deprecatedNodeLabel(topologyKey)
    if (text) warn(at.child('topologyKey'), `${topologyKey} is ${text}`)
    if (!labelSelector) warn(at.child('labelSelector'), 'a null labelSelector results in matching no pod')
  }
  for (const [key, text] of deprecatedAnnotations) if (key in annotations) warn(inAnnotations.key(key), text)
  for (const [i, volume] of (spec.volumes ?? []).entries()) {
    for (const [source, name, text] of removedVolumes) {
      if (volume[source] !== undefined) warn(inSpec.child('volumes').index(i).child(name), text)
    }
    const claim = volume.ephemeral?.volumeClaimTemplate
    if (claim) {
      const at = inSpec.child('volumes').index(i).child('ephemeral', 'volumeClaimTemplate', 'spec')
      append(warnings, claimSpecWarnings(claim.spec ?? {}, at))
    }
  }
  for (const volume of spec.volumes ?? []) append(warnings, volumePathWarnings(volume))
  duplicateNames(spec, inSpec, warn)
  for (const name of ['memory', 'ephemeral-storage'])
    warnFraction(spec.overhead?.[name], inSpec.child('overhead').key(name), warn)
  if (!spec.securityContext?.seccompProfile && seccompPod in annotations)
    warn(inAnnotations.key(seccompPod), seccompText)
  visitContainers(spec, inSpec, (container, at) => {
    const key = `${seccompContainer}${container.name}`
    if (!container.securityContext?.seccompProfile && key in annotations) warn(inAnnotations.key(key), seccompText)
    const armor = `${appArmorContainer}${container.name}`
    if (isTemplate && !container.securityContext?.appArmorProfile && armor in annotations) {
      warn(inAnnotations.key(armor), 'deprecated since v1.30; use the "appArmorProfile" field instead')
    }
    for (const name of ['memory', 'ephemeral-storage']) {
      warnFraction(container.resources?.limits?.[name], at.child('resources', 'limits').key(name), warn)
      warnFraction(container.resources?.requests?.[name], at.child('resources', 'requests').key(name), warn)
    }
    envWarnings(container, at.child('env'), warn)
  })
  portWarnings(spec, inSpec, warn)
  if ((spec.terminationGracePeriodSeconds ?? 0) < 0) {
    warn(
      inSpec.child('terminationGracePeriodSeconds'),
      'must be >= 0; negative values are invalid and will be treated as 1',
    )
  }
  append(warnings, podAffinityWarnings(spec, inSpec))
  for (const [i, server] of (spec.dnsConfig?.nameservers ?? []).entries()) {
    append(warnings, ipWarnings(inSpec.child('dnsConfig', 'nameservers').index(i), server))
  }
  for (const [i, { ip = '' }] of (spec.hostAliases ?? []).entries()) {
    append(warnings, ipWarnings(inSpec.child('hostAliases').index(i).child('ip'), ip))
  }
  return warnings
}

type Warn = (at: FieldPath, text: string) => void

function warnFraction(amount: string | number | undefined, at: FieldPath, warn: Warn): void {
  if (amount === undefined) return
  const value = quantityOf(amount)
  if (value.milliValue() % 1000n !== 0n) warn(at, `fractional byte value "${value}" is invalid, must be an integer`)
}

function duplicateNames(spec: PodSpec, path: FieldPath, warn: Warn): void {
  const addresses = new Set<string>()
  for (const [i, { ip = '' }] of (spec.hostAliases ?? []).entries()) {
    if (addresses.has(ip)) warn(path.child('hostAliases').index(i).child('ip'), `duplicate ip "${ip}"`)
    addresses.add(ip)
  }
  const secrets = spec.imagePullSecrets ?? []
  const names = new Set<string>()
  const at = path.child('imagePullSecrets')
  for (const [i, { name = '' }] of secrets.entries()) {
    if (names.has(name)) warn(at.index(i).child('name'), `duplicate name "${name}"`)
    names.add(name)
  }
  for (const [i, { name = '' }] of secrets.entries()) {
    if (name === '') warn(at.index(i).child('name'), 'invalid empty name ""')
  }
}

/** Warns about a variable that is set twice without referring to its first value. */
function envWarnings({ env = [] }: Container, path: FieldPath, warn: Warn): void {
  const names = new Set<string>()
  for (const [i, { name = '', value = '', valueFrom }] of env.entries()) {
    const reference = `$(${name})`
    if (names.has(name) && (valueFrom || value === reference || !value.includes(reference))) {
      warn(path.index(i), `hides previous definition of "${name}", which may be dropped when using apply`)
    }
    names.add(name)
  }
}

interface PortUse {
  readonly order: number
  readonly at: FieldPath
  readonly hostIP: string
  readonly hostPort: number
}

/**
 * The earlier definitions of one container port and protocol. Lists only definitions that conflict with a new one, so that the work is
 * bounded by the number of warnings.
 */
class PortUses {
  readonly #all: PortUse[] = []
  readonly #byAddress = new Map<string, PortUse[]>()

  add(use: PortUse): void {
    this.#all.push(use)
    const { hostIP, hostPort } = use
    const keys = [`${hostPort} ${hostIP}`]
    if (hostIP !== '') keys.push(`*${hostPort}`)
    if (hostPort === 0) keys.push('0')
    for (const key of keys) {
      const uses = this.#byAddress.get(key)
      if (uses) uses.push(use)
      else this.#byAddress.set(key, [use])
    }
  }

  /** The definitions that conflict with a new one, at most `limit`, in the order in which they were added. */
  conflicts(hostIP: string, hostPort: number, limit: number): PortUse[] {
    if (hostPort === 0) return this.#all.slice(0, limit)
    const keys = ['0', `${hostPort} ${hostIP}`, hostIP === '' ? `*${hostPort}` : `${hostPort} `]
    const uses = keys.flatMap((key) => this.#byAddress.get(key)?.slice(0, limit) ?? [])
    return uses.sort((a, b) => a.order - b.order).slice(0, limit)
  }
}

function portWarnings(spec: PodSpec, path: FieldPath, warn: Warn): void {
  const ports = new Map<string, PortUses>()
  let order = 0
  let room = maxPodWarnings
  visitContainers(spec, path, (container, where) => {
    for (const [i, port] of (container.ports ?? []).entries()) {
      const { name = '', hostIP = '', hostPort = 0, containerPort = 0, protocol = '' } = port
      const at = where.child('ports').index(i)
      if (hostIP !== '' && hostPort === 0) {
        const shown = `{Name:${name} HostPort:0 ContainerPort:${containerPort} Protocol:${protocol} HostIP:${hostIP}}`
        warn(at, `hostIP set without hostPort: ${shown}`)
      }
      const key = `${containerPort}/${protocol}`
      let uses = ports.get(key)
      if (!uses) ports.set(key, (uses = new PortUses()))
      for (const other of uses.conflicts(hostIP, hostPort, room)) {
        room--
        if (hostIP === other.hostIP && hostPort === other.hostPort)
          warn(at, `duplicate port definition with ${other.at}`)
        else if (hostPort === 0 || other.hostPort === 0) warn(at, `overlapping port definition with ${other.at}`)
        else warn(at, `dangerously ambiguous port definition with ${other.at}`)
      }
      uses.add({ order: order++, at, hostIP, hostPort })
    }
  })
  const names = new Map<string, FieldPath>()
  visitContainers(spec, path, (container, where) => {
    for (const [i, { name }] of (container.ports ?? []).entries()) {
      if (!name) continue
      const at = where.child('ports').index(i)
      const first = names.get(name)
      if (!first) names.set(name, at)
      else {
        const text = `services and probes that select ports by name will use ${first}`
        warn(at, `duplicate port name "${name}" with ${first}, ${text}`)
      }
    }
  })
}

function affinityWarnings({ affinity }: PodSpec, path: FieldPath): string[] {
  const warnings: string[] = []
  const node = affinity?.nodeAffinity
  const at = path.child('affinity', 'nodeAffinity')
  const terms = node?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms ?? []
  const needed = at.child('requiredDuringSchedulingIgnoredDuringExecution', 'nodeSelectorTerms')
  for (const [i, term] of terms.entries()) append(warnings, nodeSelectorTermWarnings(term, false, needed.index(i)))
  const preferred = at.child('preferredDuringSchedulingIgnoredDuringExecution')
  for (const [i, { preference = {} }] of (node?.preferredDuringSchedulingIgnoredDuringExecution ?? []).entries()) {
    append(warnings, nodeSelectorTermWarnings(preference, true, preferred.index(i).child('preference')))
  }
  return warnings
}

function podAffinityWarnings({ affinity }: PodSpec, path: FieldPath): string[] {
  const warnings: string[] = []
  const text = 'a null labelSelector results in matching no pod'
  for (const kind of ['podAffinity', 'podAntiAffinity'] as const) {
    const terms = affinity?.[kind]
    const at = path.child('affinity', kind)
    for (const [i, term] of (terms?.requiredDuringSchedulingIgnoredDuringExecution ?? []).entries()) {
      if (term.labelSelector) continue
      const where = at.child('requiredDuringSchedulingIgnoredDuringExecution').index(i).child('labelSelector')
      warnings.push(`${where}: ${text}`)
    }
    for (const [i, term] of (terms?.preferredDuringSchedulingIgnoredDuringExecution ?? []).entries()) {
      if (term.podAffinityTerm?.labelSelector) continue
      const where = at.child('preferredDuringSchedulingIgnoredDuringExecution').index(i)
      warnings.push(`${where.child('podAffinityTerm', 'labelSelector')}: ${text}`)
    }
  }
  return warnings
}
