import { type FieldError, type FieldPath, forbidden, invalid, required } from '@kubewright/schema'
import { unsupported } from '../../../checks/field-checks.ts'
import type { PodSpec } from '../pod-types.ts'
import { visitContainers } from '../visit-containers.ts'

/** Checks that either all containers of a pod run as Windows host processes, or none. */
export function validateHostProcess(spec: PodSpec, path: FieldPath, errors: FieldError[]): void {
  const podWide = spec.securityContext?.windowsOptions?.hostProcess
  let containers = 0
  let hostProcesses = 0
  visitContainers(spec, path, (container, at) => {
    containers++
    const own = container.securityContext?.windowsOptions?.hostProcess
    if (podWide !== undefined && own !== undefined && podWide !== own) {
      const text = `pod hostProcess value must be identical if both are specified, was ${podWide}`
      errors.push(invalid(at.child('securityContext', 'windowsOptions', 'hostProcess'), own, text))
    }
    if (own ?? podWide) hostProcesses++
  })
  if (hostProcesses === 0) return
  if (hostProcesses !== containers) {
    const text = 'If pod contains any hostProcess containers then all containers must be HostProcess containers'
    errors.push(invalid(path, '', text))
  }
  if (!spec.hostNetwork) {
    const text = 'hostNetwork must be true if pod contains any hostProcess containers'
    errors.push(invalid(path.child('hostNetwork'), false, text))
  }
}

const windowsPod = 'cannot be set for a windows pod'

/** Checks that a pod sets no fields of another operating system. */
export function validateOperatingSystem(spec: PodSpec, path: FieldPath, errors: FieldError[]): void {
  if (!spec.os) return
  const name = spec.os.name ?? ''
  if (name === '') errors.push(required(path.child('os', 'name')))
  else if (name === 'linux') validateLinux(spec, path, errors)
  else if (name === 'windows') validateWindows(spec, path, errors)
  else errors.push(unsupported(path.child('os'), name, ['linux', 'windows']))
}

function validateLinux(spec: PodSpec, path: FieldPath, errors: FieldError[]): void {
  const text = 'windows options cannot be set for a linux pod'
  if (spec.securityContext?.windowsOptions) {
    errors.push(forbidden(path.child('securityContext', 'windowsOptions'), text))
  }
  visitContainers(spec, path, (container, at) => {
    if (container.securityContext?.windowsOptions) {
      errors.push(forbidden(at.child('securityContext', 'windowsOptions'), text))
    }
  })
}

function validateWindows(spec: PodSpec, path: FieldPath, errors: FieldError[]): void {
  const context = spec.securityContext ?? {}
  const inContext = path.child('securityContext')
  const reject = (set: boolean, at: FieldPath, field: string): void => {
    if (set) errors.push(forbidden(at.child(field), windowsPod))
  }
  reject(context.appArmorProfile !== undefined, inContext, 'appArmorProfile')
  reject(context.seLinuxOptions !== undefined, inContext, 'seLinuxOptions')
  reject(spec.hostUsers !== undefined, path, 'hostUsers')
  reject(spec.hostPID === true, path, 'hostPID')
  reject(spec.hostIPC === true, path, 'hostIPC')
  for (const field of ['seccompProfile', 'fsGroup', 'fsGroupChangePolicy'] as const) {
    reject(context[field] !== undefined, inContext, field)
  }
  reject((context.sysctls ?? []).length > 0, inContext, 'sysctls')
  reject(spec.shareProcessNamespace !== undefined, path, 'shareProcessNamespace')
  for (const field of [
    'runAsUser',
    'runAsGroup',
    'supplementalGroups',
    'supplementalGroupsPolicy',
    'seLinuxChangePolicy',
  ] as const) {
    reject(context[field] !== undefined, inContext, field)
  }
  visitContainers(spec, path, (container, at) => {
    for (const field of [
      'appArmorProfile',
      'seLinuxOptions',
      'seccompProfile',
      'capabilities',
      'readOnlyRootFilesystem',
      'privileged',
      'allowPrivilegeEscalation',
      'procMount',
      'runAsUser',
      'runAsGroup',
    ] as const) {
      reject(container.securityContext?.[field] !== undefined, at.child('securityContext'), field)
    }
  })
}
