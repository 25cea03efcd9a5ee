import { inclusiveRangeMessage, isDNS1123Subdomain } from '@kubewright/base'
import { duplicate, type FieldError, type FieldPath, invalid, required, tooLong } from '@kubewright/schema'
import { goShown } from '../../../../codec/json/go-value.ts'
import { addInvalid, checkDescendingPath, unsupported } from '../../../checks/field-checks.ts'
import type { PodSpec, SecurityContext } from '../pod-types.ts'

const maxId = 2_147_483_647
const profileTypes = ['Localhost', 'RuntimeDefault', 'Unconfined']
const sysctlName = /^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$/
const sysctlText =
  'must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$'
const ipcSysctls = /^(kernel\.(sem|shmall|shmmax|shmmni|shm_rmid_forced|shm|msgmax|msgmnb|msgmni|msg)$|fs\.mqueue\.)/

function checkId(errors: FieldError[], path: FieldPath, id: number | undefined): void {
  if (id === undefined || (id >= 0 && id <= maxId)) return
  errors.push(invalid(path, id, inclusiveRangeMessage(0, maxId)))
}

/** Checks the security context of one container. */
export function validateSecurityContext(
  context: SecurityContext,
  path: FieldPath,
  hostUsers: boolean,
  errors: FieldError[],
): void {
  checkId(errors, path.child('runAsUser'), context.runAsUser)
  checkId(errors, path.child('runAsGroup'), context.runAsGroup)
  if (context.procMount !== undefined) {
    const at = path.child('procMount')
    const known = ['Default', 'Unmasked']
    if (!known.includes(context.procMount)) errors.push(unsupported(at, context.procMount, known))
    if (hostUsers && context.procMount === 'Unmasked') {
      errors.push(invalid(at, context.procMount, '`hostUsers` must be false to use `Unmasked`'))
    }
  }
  validateSeccompProfile(context.seccompProfile, path.child('seccompProfile'), errors)
  if (context.allowPrivilegeEscalation === false) {
    const shown = (): unknown => goShown('SecurityContext', context)
    if (context.privileged) {
      errors.push(invalid(path, shown(), 'cannot set `allowPrivilegeEscalation` to false and `privileged` to true'))
    }
    for (const capability of context.capabilities?.add ?? []) {
      if (capability !== 'CAP_SYS_ADMIN') continue
      const text = 'cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN'
      errors.push(invalid(path, shown(), text))
    }
  }
  validateWindowsOptions(context.windowsOptions, path.child('windowsOptions'), errors)
  validateAppArmorProfile(context.appArmorProfile, path.child('appArmorProfile'), errors)
}

/** Checks the security context of a pod spec. */
export function validatePodSecurityContext(spec: PodSpec, path: FieldPath, errors: FieldError[]): void {
  const context = spec.securityContext
  if (!context) return
  checkId(errors, path.child('fsGroup'), context.fsGroup)
  checkId(errors, path.child('runAsUser'), context.runAsUser)
  checkId(errors, path.child('runAsGroup'), context.runAsGroup)
  for (const [i, id] of (context.supplementalGroups ?? []).entries()) {
    checkId(errors, path.child('supplementalGroups').index(i), id)
  }
  if (spec.shareProcessNamespace && spec.hostPID) {
    const text = 'ShareProcessNamespace and HostPID cannot both be enabled'
    errors.push(invalid(path.child('shareProcessNamespace'), true, text))
  }
  validateSysctls(spec, path.child('sysctls'), errors)
  checkChoice(errors, path.child('fsGroupChangePolicy'), context.fsGroupChangePolicy, ['Always', 'OnRootMismatch'])
  validateSeccompProfile(context.seccompProfile, path.child('seccompProfile'), errors)
  validateWindowsOptions(context.windowsOptions, path.child('windowsOptions'), errors)
  validateAppArmorProfile(context.appArmorProfile, path.child('appArmorProfile'), errors)
  checkChoice(errors, path.child('supplementalGroupsPolicy'), context.supplementalGroupsPolicy, ['Merge', 'Strict'])
  checkChoice(errors, path.child('seLinuxChangePolicy'), context.seLinuxChangePolicy, ['Recursive'])
}

function checkChoice(errors: FieldError[], path: FieldPath, value: string | undefined, known: readonly string[]): void {
  if (value !== undefined && !known.includes(value)) errors.push(unsupported(path, value, known))
}

function validateSysctls(spec: PodSpec, path: FieldPath, errors: FieldError[]): void {
  const seen = new Set<string>()
  for (const [i, { name = '' }] of (spec.securityContext?.sysctls ?? []).entries()) {
    const at = path.index(i).child('name')
    if (name === '') errors.push(required(at))
    else if (name.length > 253 || !sysctlName.test(name)) errors.push(invalid(at, name, sysctlText))
    else if (seen.has(name)) errors.push(duplicate(at, name))
    const dotted = name.replaceAll('/', '.')
    if (spec.hostNetwork && dotted.startsWith('net.')) {
      errors.push(invalid(at, name, "may not be specified when 'hostNetwork' is true"))
    } else if (spec.hostIPC && ipcSysctls.test(dotted)) {
      errors.push(invalid(at, name, "may not be specified when 'hostIPC' is true"))
    }
    seen.add(name)
  }
}

function validateSeccompProfile(
  profile: SecurityContext['seccompProfile'],
  path: FieldPath,
  errors: FieldError[],
): void {
  if (!profile) return
  if (!profile.type) errors.push(required(path.child('type'), 'type is required when seccompProfile is set'))
  else if (!profileTypes.includes(profile.type)) {
    errors.push(unsupported(path.child('type'), profile.type, profileTypes))
  }
  const at = path.child('localhostProfile')
  if (profile.type !== 'Localhost') {
    if (profile.localhostProfile !== undefined) {
      const text = 'can only be set when seccomp type is Localhost'
      errors.push(invalid(at, goShown('SeccompProfile', profile), text))
    }
  } else if (profile.localhostProfile === undefined) {
    errors.push(required(at, 'must be set when seccomp type is Localhost'))
  } else checkDescendingPath(errors, at, profile.localhostProfile)
}

function validateAppArmorProfile(
  profile: SecurityContext['appArmorProfile'],
  path: FieldPath,
  errors: FieldError[],
): void {
  if (!profile) return
  const at = path.child('localhostProfile')
  const local = profile.localhostProfile
  if (profile.type === 'Localhost') {
    if (local === undefined || local === '') errors.push(required(at, 'must be set when AppArmor type is Localhost'))
    else if (local.trim() !== local) errors.push(invalid(at, local, 'must not be padded with whitespace'))
    if ((local?.length ?? 0) > 4095) errors.push(tooLong(at, 4095))
  } else if (profile.type === 'RuntimeDefault' || profile.type === 'Unconfined') {
    if (local !== undefined) errors.push(invalid(at, local, 'can only be set when AppArmor type is Localhost'))
  } else if (!profile.type) {
    errors.push(required(path.child('type'), 'type is required when appArmorProfile is set'))
  } else errors.push(unsupported(path.child('type'), profile.type, profileTypes))
}

const netBios = /^[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}$/
const dnsLabel = '[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?'
const dnsDomain = new RegExp(`^${dnsLabel}(?:\\.${dnsLabel})*$`)

function validateWindowsOptions(
  options: SecurityContext['windowsOptions'],
  path: FieldPath,
  errors: FieldError[],
): void {
  if (!options) return
  const { gmsaCredentialSpecName, gmsaCredentialSpec, runAsUserName } = options
  if (gmsaCredentialSpecName !== undefined) {
    addInvalid(
      errors,
      path.child('gmsaCredentialSpecName'),
      gmsaCredentialSpecName,
      isDNS1123Subdomain(gmsaCredentialSpecName),
    )
  }
  if (gmsaCredentialSpec === '') {
    errors.push(invalid(path.child('gmsaCredentialSpec'), '', 'gmsaCredentialSpec cannot be an empty string'))
  } else if ((gmsaCredentialSpec?.length ?? 0) > 64 * 1024) {
    errors.push(
      invalid(path.child('gmsaCredentialSpec'), gmsaCredentialSpec, 'gmsaCredentialSpec size must be under 64 KiB'),
    )
  }
  if (runAsUserName === undefined) return
  for (const text of windowsUserProblems(runAsUserName))
    errors.push(invalid(path.child('runAsUserName'), runAsUserName, text))
}

function windowsUserProblems(name: string): string[] {
  if (name === '') return ['runAsUserName cannot be an empty string']
  if (/[\x00-\x1f\x7f]/.test(name)) return ['runAsUserName cannot contain control characters']
  const parts = name.split('\\')
  if (parts.length > 2) return ['runAsUserName cannot contain more than one backslash']
  const texts: string[] = []
  const [domain, user] = parts.length === 2 ? [parts[0]!, parts[1]!] : [undefined, parts[0]!]
  if ((domain?.length ?? 0) >= 256) texts.push("runAsUserName's Domain length must be under 256 characters")
  if (domain !== undefined && !netBios.test(domain) && !dnsDomain.test(domain)) {
    texts.push("runAsUserName's Domain doesn't match the NetBios nor the DNS format")
  }
  if (user === '') texts.push("runAsUserName's User cannot be empty")
  else if (user.length > 104) texts.push("runAsUserName's User length must not be longer than 104 characters")
  if (/^[. ]+$/.test(user)) texts.push("runAsUserName's User cannot contain only periods or spaces")
  if (/["/\\:;|=,+*?<>@[\]]/.test(user)) {
    texts.push('runAsUserName\'s User cannot contain the following characters: "/\\:;|=,+*?<>@[]')
  }
  return texts
}
