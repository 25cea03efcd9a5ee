import { append, isValidPortName, isValidPortNum } from '@kubewright/base'
import {
  duplicate,
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  notFound,
  required,
  tooLong,
} from '@kubewright/schema'
import { addInvalid, checkDescendingPath, checkEnum, checkLabel, unsupported } from '../../../../checks/field-checks.ts'
import type { Container, EphemeralContainer, PodSpec, Volume } from '../../pod-types.ts'
import { isSidecar } from '../../resources/pod-resources.ts'
import { validateSecurityContext } from '../validate-security-context.ts'
import { validateEnv, validateEnvFrom } from './validate-env.ts'
import { type ProbeContext, validateProbes } from './validate-probe.ts'
import { validateContainerResources } from './validate-resources.ts'

/** The facts about the pod that the checks of its containers need. */
export interface ContainerContext {
  readonly spec: PodSpec
  readonly volumes: ReadonlyMap<string, Volume>
  readonly claimNames: ReadonlySet<string>
  readonly hostUsers: boolean
}

const protocols = ['SCTP', 'TCP', 'UDP']

/** Checks the regular containers of a pod. */
export function validateContainers(context: ContainerContext, path: FieldPath, errors: FieldError[]): void {
  const containers = context.spec.containers ?? []
  if (containers.length === 0) {
    errors.push(required(path))
    return
  }
  const names = new Set<string>()
  const ports = new Set<string>()
  const portErrors: FieldError[] = []
  for (const [i, container] of containers.entries()) {
    const at = path.index(i)
    validateContainer(container, context, at, errors)
    const name = container.name ?? ''
    if (names.has(name)) errors.push(duplicate(at.child('name'), name))
    else names.add(name)
    validateProbes(container, probeContext(context.spec), at, errors)
    validateRestartRules(container, at, errors)
    checkHostPorts(container, ports, at, portErrors)
  }
  append(errors, portErrors)
}

/** Checks the init containers of a pod, including sidecars. */
export function validateInitContainers(context: ContainerContext, path: FieldPath, errors: FieldError[]): void {
  const names = new Set((context.spec.containers ?? []).map(({ name }) => name ?? ''))
  for (const [i, container] of (context.spec.initContainers ?? []).entries()) {
    const at = path.index(i)
    validateContainer(container, context, at, errors)
    if (container.restartPolicy === 'Always') {
      if ((container.restartPolicyRules ?? []).length > 0) {
        const text = 'restartPolicyRules are not allowed for init containers with restart policy Always'
        errors.push(forbidden(at.child('restartPolicyRules'), text))
      }
    } else validateRestartRules(container, at, errors)
    const name = container.name ?? ''
    if (names.has(name)) errors.push(duplicate(at.child('name'), name))
    else if (name !== '') names.add(name)
    // Init containers run one after another, so their ports do not conflict. As in core/validation, errors have index 0.
    checkHostPorts(container, new Set(), path.index(0), errors)
    if (isSidecar(container)) validateProbes(container, probeContext(context.spec), at, errors)
    else {
      for (const field of ['lifecycle', 'livenessProbe', 'readinessProbe', 'startupProbe'] as const) {
        if (container[field] === undefined) continue
        errors.push(forbidden(at.child(field), 'may not be set for init containers without restartPolicy=Always'))
      }
    }
  }
}

function probeContext(spec: PodSpec): ProbeContext {
  return { gracePeriod: spec.terminationGracePeriodSeconds }
}

/** Fields that an ephemeral container must not have, in the order of errors. */
const notEphemeral = [
  'ports',
  'resources',
  'resizePolicy',
  'restartPolicy',
  'restartPolicyRules',
  'livenessProbe',
  'readinessProbe',
  'startupProbe',
  'lifecycle',
] as const

/** Checks the ephemeral containers of a pod. */
export function validateEphemeralContainers(context: ContainerContext, path: FieldPath, errors: FieldError[]): void {
  const { containers = [], initContainers = [], ephemeralContainers = [] } = context.spec
  const others = new Set([...containers, ...initContainers].map(({ name }) => name ?? ''))
  const names = new Set(others)
  for (const [i, ephemeral] of ephemeralContainers.entries()) {
    const at = path.index(i)
    // The types differ only in their optional fields.
    const container = ephemeral as Container
    validateContainer(container, context, at, errors)
    checkImageBlanks(container, at, errors)
    const name = ephemeral.name ?? ''
    if (names.has(name)) errors.push(duplicate(at.child('name'), name))
    else names.add(name)
    const target = ephemeral.targetContainerName
    if (target && !others.has(target)) errors.push(notFound(at.child('targetContainerName'), target))
    for (const field of notEphemeral) {
      if (isSet(ephemeral, field)) errors.push(forbidden(at.child(field), 'cannot be set for an Ephemeral Container'))
    }
    for (const [j, mount] of (ephemeral.volumeMounts ?? []).entries()) {
      for (const field of ['subPath', 'subPathExpr'] as const) {
        if (!mount[field]) continue
        const where = at.child('volumeMounts').index(j).child(field)
        errors.push(forbidden(where, 'cannot be set for an Ephemeral Container'))
      }
    }
  }
}

function isSet(container: EphemeralContainer, field: (typeof notEphemeral)[number]): boolean {
  const value = container[field]
  return value !== undefined && !(field === 'resources' && Object.keys(value as object).length === 0)
}

/** Checks that the image of a pod, unlike that of a template, has no leading or trailing spaces. */
export function checkImageBlanks({ image = '' }: Container, path: FieldPath, errors: FieldError[]): void {
  if (image.trim() !== image) {
    errors.push(invalid(path.child('image'), image, 'must not have leading or trailing whitespace'))
  }
}

function validateContainer(
  container: Container,
  context: ContainerContext,
  path: FieldPath,
  errors: FieldError[],
): void {
  if (!container.name) errors.push(required(path.child('name')))
  else checkLabel(errors, path.child('name'), container.name)
  if (!container.image) errors.push(required(path.child('image')))
  const policyPath = path.child('terminationMessagePolicy')
  checkEnum(errors, policyPath, container.terminationMessagePolicy, ['File', 'FallbackToLogsOnError'], true)
  validatePorts(container, path.child('ports'), errors)
  validateEnv(container.env ?? [], path.child('env'), errors)
  validateEnvFrom(container.envFrom ?? [], path.child('envFrom'), errors)
  validateMounts(container, context.volumes, path.child('volumeMounts'), errors)
  validateDevices(container, context.volumes, path.child('volumeDevices'), errors)
  checkEnum(errors, path.child('imagePullPolicy'), container.imagePullPolicy, ['Always', 'IfNotPresent', 'Never'], true)
  if (container.resources) {
    validateContainerResources(container.resources, context.claimNames, path.child('resources'), errors)
  }
  validateResizePolicy(container, context.spec.restartPolicy, path.child('resizePolicy'), errors)
  if (container.securityContext) {
    validateSecurityContext(container.securityContext, path.child('securityContext'), context.hostUsers, errors)
  }
}

function validatePorts({ ports = [] }: Container, path: FieldPath, errors: FieldError[]): void {
  const names = new Set<string>()
  for (const [i, port] of ports.entries()) {
    const at = path.index(i)
    if (port.name) {
      const texts = isValidPortName(port.name)
      if (texts.length > 0) addInvalid(errors, at.child('name'), port.name, texts)
      else if (names.has(port.name)) errors.push(duplicate(at.child('name'), port.name))
      else names.add(port.name)
    }
    if (!port.containerPort) errors.push(required(at.child('containerPort')))
    else addInvalid(errors, at.child('containerPort'), port.containerPort, isValidPortNum(port.containerPort))
    if (port.hostPort) addInvalid(errors, at.child('hostPort'), port.hostPort, isValidPortNum(port.hostPort))
    checkEnum(errors, at.child('protocol'), port.protocol, protocols, true)
  }
}

function checkHostPorts({ ports = [] }: Container, taken: Set<string>, path: FieldPath, errors: FieldError[]): void {
  for (const [i, { hostPort, hostIP = '', protocol }] of ports.entries()) {
    if (!hostPort) continue
    const key = `${protocol}/${hostIP}/${hostPort}`
    if (taken.has(key)) errors.push(duplicate(path.child('ports').index(i).child('hostPort'), key))
    else taken.add(key)
  }
}

function validateMounts(
  container: Container,
  volumes: ReadonlyMap<string, Volume>,
  path: FieldPath,
  errors: FieldError[],
): void {
  const points = new Set<string>()
  const devices = container.volumeDevices ?? []
  for (const [i, mount] of (container.volumeMounts ?? []).entries()) {
    const at = path.index(i)
    const { name = '', mountPath = '', subPath, subPathExpr } = mount
    if (name === '') errors.push(required(at.child('name')))
    if (!volumes.has(name)) errors.push(notFound(at.child('name'), name))
    if (mountPath === '') errors.push(required(at.child('mountPath')))
    if (points.has(mountPath)) errors.push(invalid(at.child('mountPath'), mountPath, 'must be unique'))
    points.add(mountPath)
    if (devices.some((device) => (device.name ?? '') === name)) {
      errors.push(invalid(at.child('name'), name, 'must not already exist in volumeDevices'))
    }
    if (devices.some(({ devicePath = '' }) => devicePath === mountPath)) {
      errors.push(invalid(at.child('mountPath'), mountPath, 'must not already exist as a path in volumeDevices'))
    }
    if (subPath) checkDescendingPath(errors, path.child('subPath'), subPath)
    if (subPathExpr) {
      if (subPath) {
        const text = 'subPathExpr and subPath are mutually exclusive'
        errors.push(invalid(at.child('subPathExpr'), subPathExpr, text))
      }
      checkDescendingPath(errors, path.child('subPathExpr'), subPathExpr)
    }
    checkMountModes(mount, container.securityContext?.privileged === true, path, errors)
  }
}

function checkMountModes(
  mount: NonNullable<Container['volumeMounts']>[number],
  privileged: boolean,
  path: FieldPath,
  errors: FieldError[],
): void {
  const { mountPropagation, recursiveReadOnly, readOnly } = mount
  if (mountPropagation !== undefined) {
    const at = path.child('mountPropagation')
    checkEnum(errors, at, mountPropagation, ['Bidirectional', 'HostToContainer', 'None'])
    if (mountPropagation === 'Bidirectional' && !privileged) {
      errors.push(forbidden(at, 'Bidirectional mount propagation is available only to privileged containers'))
    }
  }
  if (recursiveReadOnly === undefined || recursiveReadOnly === 'Disabled') return
  const at = path.child('recursiveReadOnly')
  if (recursiveReadOnly !== 'Enabled' && recursiveReadOnly !== 'IfPossible') {
    errors.push(unsupported(at, recursiveReadOnly, ['Disabled', 'Enabled', 'IfPossible']))
    return
  }
  if (!readOnly) errors.push(forbidden(at, 'may only be specified when readOnly is true'))
  if (mountPropagation !== undefined && mountPropagation !== 'None') {
    errors.push(forbidden(at, 'may only be specified when mountPropagation is None or not specified'))
  }
}

function validateDevices(
  { volumeDevices = [], volumeMounts = [] }: Container,
  volumes: ReadonlyMap<string, Volume>,
  path: FieldPath,
  errors: FieldError[],
): void {
  const names = new Set<string>()
  const paths = new Set<string>()
  for (const [i, { name = '', devicePath = '' }] of volumeDevices.entries()) {
    const at = path.index(i)
    const namePath = at.child('name')
    const pathPath = at.child('devicePath')
    const volume = volumes.get(name)
    if (name === '') errors.push(required(namePath))
    if (names.has(name)) errors.push(invalid(namePath, name, 'must be unique'))
    if (!volume) errors.push(notFound(namePath, name))
    else if (!volume.persistentVolumeClaim && !volume.ephemeral) {
      const text = 'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode'
      errors.push(invalid(namePath, name, text))
    }
    if (devicePath === '') errors.push(required(pathPath))
    if (paths.has(devicePath)) errors.push(invalid(pathPath, devicePath, 'must be unique'))
    if (devicePath.split('/').includes('..')) {
      errors.push(invalid(pathPath, devicePath, "can not contain backsteps ('..')"))
    } else paths.add(devicePath)
    if (volumeMounts.some((mount) => (mount.name ?? '') === name)) {
      errors.push(invalid(namePath, name, 'must not already exist in volumeMounts'))
    }
    if (volumeMounts.some(({ mountPath = '' }) => mountPath === devicePath)) {
      errors.push(invalid(pathPath, devicePath, 'must not already exist as a path in volumeMounts'))
    }
    if (name !== '') names.add(name)
  }
}

function validateResizePolicy(
  { resizePolicy = [] }: Container,
  podRestartPolicy: string | undefined,
  path: FieldPath,
  errors: FieldError[],
): void {
  const seen = new Set<string>()
  for (const [i, { resourceName = '', restartPolicy = '' }] of resizePolicy.entries()) {
    if (seen.has(resourceName)) errors.push(duplicate(path.index(i), resourceName))
    seen.add(resourceName)
    checkEnum(errors, path, resourceName, ['cpu', 'memory'], true)
    checkEnum(errors, path, restartPolicy, ['NotRequired', 'RestartContainer'], true)
    if (podRestartPolicy === 'Never' && restartPolicy !== 'NotRequired') {
      errors.push(invalid(path, restartPolicy, "must be 'NotRequired' when `restartPolicy` is 'Never'"))
    }
  }
}

/** Checks the restart policy and restart rules of a container, which override the policy of the pod. */
function validateRestartRules(
  { restartPolicy, restartPolicyRules: rules = [] }: Container,
  path: FieldPath,
  errors: FieldError[],
): void {
  if (restartPolicy === undefined) {
    if (rules.length === 0) return
    errors.push(required(path.child('restartPolicy'), 'must specify restartPolicy when restart rules are used'))
  } else checkEnum(errors, path.child('restartPolicy'), restartPolicy, ['Always', 'Never', 'OnFailure'])
  if (rules.length > 20) errors.push(tooLong(path.child('restartPolicyRules'), 20))
  for (const [i, { action, exitCodes }] of rules.entries()) {
    const at = path.child('restartPolicyRules').index(i)
    checkEnum(errors, at.child('action'), action, ['Restart'])
    if (!exitCodes) {
      errors.push(required(at.child('exitCodes'), 'must be specified'))
      continue
    }
    checkEnum(errors, at.child('exitCodes', 'operator'), exitCodes.operator, ['In', 'NotIn'])
    if ((exitCodes.values ?? []).length > 255) errors.push(tooLong(at.child('exitCodes', 'values'), 255))
  }
}
