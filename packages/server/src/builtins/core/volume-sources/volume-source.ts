import { type FieldError, type FieldPath, forbidden, required } from '@kubewright/schema'
import { checkNoBacksteps, unsupported } from '../../checks/field-checks.ts'
import type { Volume } from '../pod/pod-types.ts'

// Checks that pod volumes and persistent volumes share.

const hostPathTypes = [
  '',
  'BlockDevice',
  'CharDevice',
  'Directory',
  'DirectoryOrCreate',
  'File',
  'FileOrCreate',
  'Socket',
]

/** Checks a hostPath source. */
export function validateHostPath(source: NonNullable<Volume['hostPath']>, path: FieldPath, errors: FieldError[]): void {
  const { path: hostPath = '', type } = source
  if (hostPath === '') {
    errors.push(required(path.child('path')))
    return
  }
  checkNoBacksteps(errors, path.child('path'), hostPath)
  if (type !== undefined && !hostPathTypes.includes(type)) {
    errors.push(unsupported(path.child('type'), type, hostPathTypes))
  }
}

/** Names in errors that differ from the name of the field; the missing letter is kube-apiserver's. */
const namesInErrors: Readonly<Record<string, string>> = { cephfs: 'cephFS', downwardAPI: 'downwarAPI' }

/** The error for a volume that has a further source. */
export function secondSource(path: FieldPath, source: string): FieldError {
  return forbidden(path.child(namesInErrors[source] ?? source), 'may not specify more than 1 volume type')
}

/** The error for a volume without a source. */
export function noSource(path: FieldPath): FieldError {
  return required(path, 'must specify a volume type')
}

/** Whether the name of the iSCSI initiator that the kubelet derives from these fields would be too long. */
export function isInitiatorTooLong(volumeName: string | undefined, iscsi: NonNullable<Volume['iscsi']>): boolean {
  return iscsi.initiatorName !== undefined && `${volumeName ?? ''}:${iscsi.targetPortal ?? ''}`.length > 64
}

/** The message for {@link isInitiatorTooLong}. */
export const initiatorTooLong =
  'Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is specified.'
