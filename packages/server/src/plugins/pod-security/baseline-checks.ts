import { goQuote } from '@kubewright/base'
import type { Container, PodSpec } from '../../builtins/core/pod/pod-types.ts'
import {
  type CheckedPod,
  type CheckPod,
  containersText,
  distinct,
  plural,
  quoted,
  type SecurityCheck,
  settersText,
  type Violation,
} from './security-check.ts'

const defaultCapabilities = new Set([
  'AUDIT_WRITE',
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'MKNOD',
  'NET_BIND_SERVICE',
  'SETFCAP',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
])
const seLinuxTypes = ['', 'container_t', 'container_init_t', 'container_kvm_t']
const sysctls0 = [
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.ping_group_range',
  'net.ipv4.ip_unprivileged_port_start',
]
const sysctls27 = [...sysctls0, 'net.ipv4.ip_local_reserved_ports']
const sysctls29 = [
  ...sysctls27,
  'net.ipv4.tcp_keepalive_time',
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_keepalive_intvl',
  'net.ipv4.tcp_keepalive_probes',
]
const sysctls32 = [...sysctls29, 'net.ipv4.tcp_rmem', 'net.ipv4.tcp_wmem']
const appArmorPrefix = 'container.apparmor.security.beta.kubernetes.io/'
const seccompPod = 'seccomp.security.alpha.kubernetes.io/pod'
const seccompContainer = 'container.seccomp.security.alpha.kubernetes.io/'

/** The checks of the baseline level, in the order of messages. */
export const baselineChecks: readonly SecurityCheck[] = [
  { id: 'appArmorProfile', level: 'baseline', versions: [[0, appArmorProfile]] },
  { id: 'capabilities_baseline', level: 'baseline', versions: [[0, capabilities]] },
  { id: 'hostNamespaces', level: 'baseline', versions: [[0, hostNamespaces]] },
  { id: 'hostPathVolumes', level: 'baseline', versions: [[0, hostPathVolumes]] },
  { id: 'hostPorts', level: 'baseline', versions: [[0, hostPorts]] },
  { id: 'hostProbesAndHostLifecycle', level: 'baseline', versions: [[34, hostProbes]] },
  { id: 'privileged', level: 'baseline', versions: [[0, privileged]] },
  {
    id: 'procMount',
    level: 'baseline',
    versions: [
      [0, procMount],
      [35, (pod) => (hasUserNamespace(pod.spec) ? undefined : procMount(pod))],
    ],
  },
  {
    id: 'seLinuxOptions',
    level: 'baseline',
    versions: [
      [0, seLinuxOptions(seLinuxTypes)],
      [31, seLinuxOptions([...seLinuxTypes, 'container_engine_t'])],
    ],
  },
  {
    id: 'seccompProfile_baseline',
    level: 'baseline',
    versions: [
      [0, seccompAnnotations],
      [19, seccompProfile],
    ],
  },
  {
    id: 'sysctls',
    level: 'baseline',
    versions: [
      [0, sysctls(sysctls0)],
      [27, sysctls(sysctls27)],
      [29, sysctls(sysctls29)],
      [32, sysctls(sysctls32)],
    ],
  },
  { id: 'windowsHostProcess', level: 'baseline', versions: [[0, windowsHostProcess]] },
]

/** Whether the pod runs in its own user namespace, in which root has no privileges on the node. */
export function hasUserNamespace(spec: PodSpec): boolean {
  return spec.hostUsers === false
}

/** Whether a seccomp profile restricts the container. */
export function isConfined(type: string | undefined): boolean {
  return type === 'RuntimeDefault' || type === 'Localhost'
}

/** Only the default proc mount is allowed. */
export function procMount({ containers }: CheckedPod): Violation | undefined {
  const bad = containers.filter(({ securityContext }) => (securityContext?.procMount ?? 'Default') !== 'Default')
  if (bad.length === 0) return undefined
  const types = distinct(bad.map(({ securityContext }) => securityContext?.procMount ?? ''))
  return {
    reason: 'procMount',
    detail: `${containersText(bad)} must not set securityContext.procMount to ${quoted(types)}`,
  }
}

function appArmorProfile({ annotations, spec, containers }: CheckedPod): Violation | undefined {
  const podType = spec.securityContext?.appArmorProfile?.type
  const podBad = spec.securityContext?.appArmorProfile !== undefined && !isConfined(podType)
  const bad = containers.filter(({ securityContext }) => {
    const profile = securityContext?.appArmorProfile
    return profile !== undefined && !isConfined(profile.type)
  })
  const values = distinct([
    ...(podBad ? [podType ?? ''] : []),
    ...bad.map(({ securityContext }) => securityContext?.appArmorProfile?.type ?? ''),
  ])
  const notes = Object.entries(annotations)
    .filter(([key, value]) => key.startsWith(appArmorPrefix) && !/^$|^runtime\/default$|^localhost\//.test(value))
    .map(([key, value]) => `${key}=${goQuote(value)}`)
    .sort()
  const setters = [
    ...(podBad || bad.length > 0 ? [settersText(podBad, bad)] : []),
    ...(notes.length > 0 ? [plural('annotation', 'annotations', notes.length)] : []),
  ]
  if (setters.length === 0) return undefined
  const all = [...values, ...notes]
  return {
    reason: plural('forbidden AppArmor profile', 'forbidden AppArmor profiles', all.length),
    detail: `${setters.join(' and ')} must not set AppArmor profile type to ${quoted(all)}`,
  }
}

function capabilities({ containers }: CheckedPod): Violation | undefined {
  const added = ({ securityContext }: Container): string[] =>
    (securityContext?.capabilities?.add ?? []).filter((name) => !defaultCapabilities.has(name))
  const bad = containers.filter((container) => added(container).length > 0)
  if (bad.length === 0) return undefined
  const names = quoted(distinct(bad.flatMap(added)))
  return {
    reason: 'non-default capabilities',
    detail: `${containersText(bad)} must not include ${names} in securityContext.capabilities.add`,
  }
}

function hostNamespaces({ spec }: CheckedPod): Violation | undefined {
  const shared = (['hostNetwork', 'hostPID', 'hostIPC'] as const).filter((name) => spec[name] === true)
  if (shared.length === 0) return undefined
  return { reason: 'host namespaces', detail: shared.map((name) => `${name}=true`).join(', ') }
}

function hostPathVolumes({ spec }: CheckedPod): Violation | undefined {
  const names = (spec.volumes ?? []).filter(({ hostPath }) => hostPath !== undefined).map(({ name }) => name ?? '')
  if (names.length === 0) return undefined
  return { reason: 'hostPath volumes', detail: `${plural('volume', 'volumes', names.length)} ${quoted(names)}` }
}

function hostPorts({ containers }: CheckedPod): Violation | undefined {
  const portsOf = ({ ports }: Container): string[] =>
    (ports ?? []).filter(({ hostPort }) => (hostPort ?? 0) !== 0).map(({ hostPort }) => String(hostPort))
  const bad = containers.filter((container) => portsOf(container).length > 0)
  if (bad.length === 0) return undefined
  const ports = distinct(bad.flatMap(portsOf))
  const verb = plural('uses', 'use', bad.length)
  const noun = plural('hostPort', 'hostPorts', ports.length)
  return { reason: 'hostPort', detail: `${containersText(bad)} ${verb} ${noun} ${ports.join(', ')}` }
}

function hostProbes({ containers }: CheckedPod): Violation | undefined {
  const hostsOf = (container: Container): string[] => {
    const { livenessProbe, readinessProbe, startupProbe, lifecycle } = container
    const handlers = [livenessProbe, readinessProbe, startupProbe, lifecycle?.postStart, lifecycle?.preStop]
    return handlers.flatMap((handler) =>
      [handler?.httpGet?.host, handler?.tcpSocket?.host].filter((host) => !!host),
    ) as string[]
  }
  const bad = containers.filter((container) => hostsOf(container).length > 0)
  if (bad.length === 0) return undefined
  const names = distinct(bad.map(({ name }) => name ?? ''))
  const hosts = distinct(bad.flatMap(hostsOf))
  const who = `${plural('container', 'containers', names.length)} ${quoted(names)} ${plural('uses', 'use', names.length)}`
  const what = plural('probe or lifecycle host', 'probe or lifecycle hosts', hosts.length)
  return { reason: 'probe or lifecycle host', detail: `${who} ${what} ${quoted(hosts)}` }
}

function privileged({ containers }: CheckedPod): Violation | undefined {
  const bad = containers.filter(({ securityContext }) => securityContext?.privileged === true)
  if (bad.length === 0) return undefined
  return { reason: 'privileged', detail: `${containersText(bad)} must not set securityContext.privileged=true` }
}

function seLinuxOptions(allowed: readonly string[]): CheckPod {
  return ({ spec, containers }) => {
    type Options = { type?: string | undefined; user?: string | undefined; role?: string | undefined } | undefined
    const isBad = (options: Options): boolean =>
      options !== undefined && (!allowed.includes(options.type ?? '') || !!options.user || !!options.role)
    const pod: Options = spec.securityContext?.seLinuxOptions
    const bad = containers.filter(({ securityContext }) => isBad(securityContext?.seLinuxOptions))
    const setters = settersText(isBad(pod), bad)
    if (setters === '') return undefined
    const all: Options[] = [pod, ...bad.map(({ securityContext }) => securityContext?.seLinuxOptions)]
    const types = distinct(all.map((options) => options?.type ?? '').filter((type) => !allowed.includes(type)))
    const data = [
      ...(types.length > 0 ? [`${plural('type', 'types', types.length)} ${quoted(types)}`] : []),
      ...(all.some((options) => options?.user) ? ['user may not be set'] : []),
      ...(all.some((options) => options?.role) ? ['role may not be set'] : []),
    ]
    return {
      reason: 'seLinuxOptions',
      detail: `${setters} set forbidden securityContext.seLinuxOptions: ${data.join('; ')}`,
    }
  }
}

function seccompAnnotations({ annotations, containers }: CheckedPod): Violation | undefined {
  const keys = [seccompPod, ...containers.map(({ name }) => seccompContainer + name)]
  const bad = distinct(
    keys
      .filter((key) => !/^(runtime\/default$|docker\/default$|localhost\/)/.test(annotations[key] ?? 'runtime/default'))
      .map((key) => `${key}=${goQuote(annotations[key]!)}`),
  )
  if (bad.length === 0) return undefined
  return {
    reason: 'seccompProfile',
    detail: `forbidden ${plural('annotation', 'annotations', bad.length)} ${bad.join(', ')}`,
  }
}

function seccompProfile({ spec, containers }: CheckedPod): Violation | undefined {
  const podProfile = spec.securityContext?.seccompProfile
  const podBad = podProfile !== undefined && !isConfined(podProfile.type)
  const bad = containers.filter(({ securityContext }) => {
    const profile = securityContext?.seccompProfile
    return profile !== undefined && !isConfined(profile.type)
  })
  const setters = settersText(podBad, bad)
  if (setters === '') return undefined
  const values = distinct([
    ...(podBad ? [podProfile.type ?? ''] : []),
    ...bad.map(({ securityContext }) => securityContext?.seccompProfile?.type ?? ''),
  ])
  return {
    reason: 'seccompProfile',
    detail: `${setters} must not set securityContext.seccompProfile.type to ${quoted(values)}`,
  }
}

function sysctls(allowed: readonly string[]): CheckPod {
  return ({ spec }) => {
    const given = (spec.securityContext?.sysctls ?? []).map(({ name }) => name ?? '')
    const bad = given.filter((name) => !allowed.includes(name))
    return bad.length === 0 ? undefined : { reason: 'forbidden sysctls', detail: bad.join(', ') }
  }
}

function windowsHostProcess({ spec, containers }: CheckedPod): Violation | undefined {
  const bad = containers.filter(({ securityContext }) => securityContext?.windowsOptions?.hostProcess === true)
  const setters = settersText(spec.securityContext?.windowsOptions?.hostProcess === true, bad)
  if (setters === '') return undefined
  return {
    reason: 'hostProcess',
    detail: `${setters} must not set securityContext.windowsOptions.hostProcess=true`,
  }
}

/** The seccomp check, which the restricted level extends. */
export const seccompProfileCheck: CheckPod = seccompProfile
