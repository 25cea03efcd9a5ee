import { hasUserNamespace, isConfined, procMount, seccompProfileCheck } from './baseline-checks.ts'
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

const allowedVolumes = new Set([
  'configMap',
  'csi',
  'downwardAPI',
  'emptyDir',
  'ephemeral',
  'image',
  'persistentVolumeClaim',
  'projected',
  'secret',
])

/** The additional checks of the restricted level, in the order of messages. */
export const restrictedChecks: readonly SecurityCheck[] = [
  {
    id: 'allowPrivilegeEscalation',
    level: 'restricted',
    versions: [
      [8, allowPrivilegeEscalation],
      [25, exceptWindows(allowPrivilegeEscalation)],
    ],
  },
  {
    id: 'capabilities_restricted',
    level: 'restricted',
    versions: [
      [22, capabilities],
      [25, exceptWindows(capabilities)],
    ],
    replaces: 'capabilities_baseline',
  },
  { id: 'procMount_restricted', level: 'restricted', versions: [[35, procMount]], replaces: 'procMount' },
  { id: 'restrictedVolumes', level: 'restricted', versions: [[0, volumes]], replaces: 'hostPathVolumes' },
  {
    id: 'runAsNonRoot',
    level: 'restricted',
    versions: [
      [0, runAsNonRoot],
      [35, exceptUserNamespaces(runAsNonRoot)],
    ],
  },
  {
    id: 'runAsUser',
    level: 'restricted',
    versions: [
      [23, runAsUser],
      [35, exceptUserNamespaces(runAsUser)],
    ],
  },
  {
    id: 'seccompProfile_restricted',
    level: 'restricted',
    versions: [
      [19, seccompProfile],
      [25, exceptWindows(seccompProfile)],
    ],
    replaces: 'seccompProfile_baseline',
  },
]

function exceptWindows(check: CheckPod): CheckPod {
  return (pod) => (pod.spec.os?.name === 'windows' ? undefined : check(pod))
}

function exceptUserNamespaces(check: CheckPod): CheckPod {
  return (pod) => (hasUserNamespace(pod.spec) ? undefined : check(pod))
}

function allowPrivilegeEscalation({ containers }: CheckedPod): Violation | undefined {
  const bad = containers.filter(({ securityContext }) => securityContext?.allowPrivilegeEscalation !== false)
  if (bad.length === 0) return undefined
  return {
    reason: 'allowPrivilegeEscalation != false',
    detail: `${containersText(bad)} must set securityContext.allowPrivilegeEscalation=false`,
  }
}

function capabilities({ containers }: CheckedPod): Violation | undefined {
  const keeping = containers.filter(({ securityContext }) => !securityContext?.capabilities?.drop?.includes('ALL'))
  const adding = containers.filter(({ securityContext }) =>
    securityContext?.capabilities?.add?.some((name) => name !== 'NET_BIND_SERVICE'),
  )
  const details: string[] = []
  if (keeping.length > 0) details.push(`${containersText(keeping)} must set securityContext.capabilities.drop=["ALL"]`)
  if (adding.length > 0) {
    const added = adding.flatMap(({ securityContext }) => securityContext?.capabilities?.add ?? [])
    const names = quoted(distinct(added.filter((name) => name !== 'NET_BIND_SERVICE')))
    details.push(`${containersText(adding)} must not include ${names} in securityContext.capabilities.add`)
  }
  return details.length === 0 ? undefined : { reason: 'unrestricted capabilities', detail: details.join('; ') }
}

function volumes({ spec }: CheckedPod): Violation | undefined {
  const typesOf = (volume: object): string[] => Object.keys(volume).filter((key) => key !== 'name')
  const bad = (spec.volumes ?? []).filter((volume) => !typesOf(volume).some((type) => allowedVolumes.has(type)))
  if (bad.length === 0) return undefined
  const names = bad.map(({ name }) => name ?? '')
  const types = distinct(bad.map((volume) => typesOf(volume)[0] ?? 'unknown'))
  const who = `${plural('volume', 'volumes', names.length)} ${quoted(names)} ${plural('uses', 'use', names.length)}`
  const what = plural('restricted volume type', 'restricted volume types', types.length)
  return { reason: 'restricted volume types', detail: `${who} ${what} ${quoted(types)}` }
}

function runAsNonRoot({ spec, containers }: CheckedPod): Violation | undefined {
  const reason = 'runAsNonRoot != true'
  const pod = spec.securityContext?.runAsNonRoot
  const refusing = containers.filter(({ securityContext }) => securityContext?.runAsNonRoot === false)
  const setters = settersText(pod === false, refusing)
  if (setters !== '') return { reason, detail: `${setters} must not set securityContext.runAsNonRoot=false` }
  const silent =
    pod === true ? [] : containers.filter(({ securityContext }) => securityContext?.runAsNonRoot === undefined)
  if (silent.length === 0) return undefined
  return { reason, detail: `pod or ${containersText(silent)} must set securityContext.runAsNonRoot=true` }
}

function runAsUser({ spec, containers }: CheckedPod): Violation | undefined {
  const bad = containers.filter(({ securityContext }) => securityContext?.runAsUser === 0)
  const setters = settersText(spec.securityContext?.runAsUser === 0, bad)
  return setters === '' ? undefined : { reason: 'runAsUser=0', detail: `${setters} must not set runAsUser=0` }
}

function seccompProfile(pod: CheckedPod): Violation | undefined {
  const explicit = seccompProfileCheck(pod)
  if (explicit) return explicit
  if (isConfined(pod.spec.securityContext?.seccompProfile?.type)) return undefined
  const silent = pod.containers.filter(({ securityContext }) => securityContext?.seccompProfile === undefined)
  if (silent.length === 0) return undefined
  return {
    reason: 'seccompProfile',
    detail: `pod or ${containersText(silent)} must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"`,
  }
}
