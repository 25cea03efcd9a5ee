import { isHTTPHeaderName, isValidPortName, isValidPortNum } from '@kubewright/base'
import { type FieldError, type FieldPath, forbidden, invalid, required } from '@kubewright/schema'
import { addInvalid, checkEnum, checkNonNegative } from '../../../../checks/field-checks.ts'
import type { Container, Probe } from '../../pod-types.ts'

type Handler = Pick<Probe, 'exec' | 'httpGet' | 'tcpSocket' | 'grpc'> & {
  sleep?: { seconds?: number | undefined } | undefined
}
type Lifecycle = NonNullable<Container['lifecycle']>

/** The facts about the pod that the checks of probes need. */
export interface ProbeContext {
  readonly gracePeriod: number | undefined
}

/** Checks the probes and lifecycle hooks of a regular container or a sidecar. */
export function validateProbes(
  container: Container,
  context: ProbeContext,
  path: FieldPath,
  errors: FieldError[],
): void {
  const { lifecycle, livenessProbe, readinessProbe, startupProbe } = container
  if (lifecycle) validateLifecycle(lifecycle, context, path.child('lifecycle'), errors)
  if (livenessProbe) {
    validateProbe(livenessProbe, context, path.child('livenessProbe'), errors)
    checkSingleSuccess(livenessProbe, path.child('livenessProbe'), errors)
  }
  if (readinessProbe) {
    const at = path.child('readinessProbe')
    validateProbe(readinessProbe, context, at, errors)
    const seconds = readinessProbe.terminationGracePeriodSeconds
    if (seconds !== undefined) {
      errors.push(invalid(at.child('terminationGracePeriodSeconds'), seconds, 'must not be set for readinessProbes'))
    }
  }
  if (startupProbe) {
    validateProbe(startupProbe, context, path.child('startupProbe'), errors)
    checkSingleSuccess(startupProbe, path.child('startupProbe'), errors)
  }
}

function checkSingleSuccess(probe: Probe, path: FieldPath, errors: FieldError[]): void {
  if (probe.successThreshold === 1) return
  errors.push(invalid(path.child('successThreshold'), probe.successThreshold ?? 0, 'must be 1'))
}

function validateProbe(probe: Probe, context: ProbeContext, path: FieldPath, errors: FieldError[]): void {
  const { exec, httpGet, tcpSocket, grpc } = probe
  validateHandler({ exec, httpGet, tcpSocket, grpc }, context, path, errors)
  for (const field of [
    'initialDelaySeconds',
    'timeoutSeconds',
    'periodSeconds',
    'successThreshold',
    'failureThreshold',
  ] as const) {
    checkNonNegative(errors, path.child(field), probe[field])
  }
  const seconds = probe.terminationGracePeriodSeconds
  if (seconds !== undefined && seconds <= 0) {
    errors.push(invalid(path.child('terminationGracePeriodSeconds'), seconds, 'must be greater than 0'))
  }
}

function validateLifecycle(lifecycle: Lifecycle, context: ProbeContext, path: FieldPath, errors: FieldError[]): void {
  for (const hook of ['postStart', 'preStop'] as const) {
    const handler = lifecycle[hook]
    if (handler) validateHandler(handler, context, path.child(hook), errors)
  }
}

const handlers = ['exec', 'httpGet', 'tcpSocket', 'grpc', 'sleep'] as const

function validateHandler(handler: Handler, context: ProbeContext, path: FieldPath, errors: FieldError[]): void {
  let found = false
  for (const kind of handlers) {
    if (handler[kind] == null) continue
    if (found) errors.push(forbidden(path.child(kind), 'may not specify more than 1 handler type'))
    else validateAction(kind, handler, context, path.child(kind), errors)
    found = true
  }
  if (!found) errors.push(required(path, 'must specify a handler type'))
}

function validateAction(
  kind: (typeof handlers)[number],
  { exec, httpGet, tcpSocket, grpc, sleep }: Handler,
  { gracePeriod }: ProbeContext,
  path: FieldPath,
  errors: FieldError[],
): void {
  switch (kind) {
    case 'exec':
      if ((exec?.command ?? []).length === 0) errors.push(required(path.child('command')))
      return
    case 'httpGet':
      if (!httpGet?.path) errors.push(required(path.child('path')))
      checkPort(errors, path.child('port'), httpGet?.port)
      checkEnum(errors, path.child('scheme'), httpGet?.scheme, ['HTTP', 'HTTPS'])
      for (const { name = '' } of httpGet?.httpHeaders ?? []) {
        addInvalid(errors, path.child('httpHeaders'), name, isHTTPHeaderName(name))
      }
      return
    case 'tcpSocket':
      checkPort(errors, path.child('port'), tcpSocket?.port)
      return
    case 'grpc':
      checkPort(errors, path.child('port'), grpc?.port)
      return
    case 'sleep': {
      const seconds = sleep?.seconds ?? 0
      if (gracePeriod === undefined || (seconds >= 0 && seconds <= gracePeriod)) return
      const text = `must be non-negative and less than terminationGracePeriodSeconds (${gracePeriod})`
      errors.push(invalid(path, seconds, text))
    }
  }
}

/** Checks a port, which is a number or a name. */
export function checkPort(errors: FieldError[], path: FieldPath, port: string | number | undefined): void {
  if (typeof port === 'string') addInvalid(errors, path, port, isValidPortName(port))
  else addInvalid(errors, path, port ?? 0, isValidPortNum(port ?? 0))
}
