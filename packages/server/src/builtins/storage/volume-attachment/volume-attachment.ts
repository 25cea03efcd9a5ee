import { inclusiveRangeMessage, nameIsDNSSubdomain, utf8Length } from '@kubewright/base'
import type { VolumeAttachment } from '@kubewright/k8s'
import type * as storage from '@kubewright/k8s/storage/v1'
import { type FieldError, FieldPath, forbidden, invalid, required, tooLong } from '@kubewright/schema'
import { goValueOf } from '../../../codec/json/go-value.ts'
import type { MutableObject } from '../../../resource/object.ts'
import { semanticEqual } from '../../../resource/semantic-equal.ts'
import { withStatus } from '../../../resource/status-strategy.ts'
import { ageColumn, booleanColumn, column, defineTable, nameColumn, textColumn } from '../../../table/columns.ts'
import { addInvalid, checkCsiDriverName } from '../../checks/field-checks.ts'
import { resetForStatus } from '../../checks/reset-for-status.ts'
import { immutableText, isTooLong, part, specPath, statusPath, structValue } from '../../checks/strategy-checks.ts'
import { validateVolumeSource } from '../../core/persistent-volume/validate-volume-source.ts'
import { checkAccessModes } from '../../core/persistent-volume-claim/validate-claim-spec.ts'
import { type BuiltinDefinition, defineBuiltin } from '../../define-builtin.ts'
import type { Unchecked } from '../../typed/unchecked.ts'

type Spec = Unchecked<storage.VolumeAttachmentSpec>
type InlineVolume = NonNullable<NonNullable<Spec['source']>['inlineVolumeSpec']>
type Status = Unchecked<storage.VolumeAttachmentStatus>

const maxMetadata = 256 * 1024
const maxMessage = 1024
const maxInt32 = 2_147_483_647

/** VolumeAttachments (pkg/registry/storage/volumeattachment). */
export const volumeAttachments: BuiltinDefinition = defineBuiltin({
  group: 'storage.k8s.io',
  resource: 'volumeattachments',
  table: defineTable<VolumeAttachment>([
    nameColumn,
    column(
      { name: 'Attacher', type: 'string', format: 'name', description: 'Driver that attaches the volume.' },
      ({ spec }) => spec?.attacher ?? '',
    ),
    textColumn('PV', 'Name of the volume.', ({ spec }) => spec?.source?.persistentVolumeName ?? ''),
    textColumn('Node', 'Node that uses the volume.', ({ spec }) => spec?.nodeName ?? ''),
    booleanColumn('Attached', 'Whether the volume is attached.', ({ status }) => status?.attached ?? false),
    ageColumn,
  ]),
  ...withStatus(
    {
      validateName: nameIsDNSSubdomain,
      returnDeletedObject: true,
      metadataOnUpdate: ['create'],
      allowUnconditionalUpdate: false,
      validate: (object) => {
        const errors = validateAttachment(object)
        const { attacher, source } = part<Spec>(object, 'spec')
        // As in kube-apiserver: the path is one segment with a dot.
        checkCsiDriverName(errors, FieldPath.of('spec.attacher'), attacher)
        const volume = source?.persistentVolumeName
        if (volume !== undefined) {
          const path = FieldPath.of('spec.source.persistentVolumeName')
          addInvalid(errors, path, volume, nameIsDNSSubdomain(volume, false))
        }
        return errors
      },
      validateUpdate,
    },
    { resets: ['metadata', 'spec'], prepareForUpdate: resetForStatus, validateUpdate },
  ),
})

function validateUpdate(object: MutableObject, old: MutableObject): FieldError[] {
  const errors = validateAttachment(object)
  const spec = part<Spec>(object, 'spec')
  if (!semanticEqual(spec, old['spec'])) {
    const inline = spec.source?.inlineVolumeSpec
    const shown = {
      Attacher: spec.attacher ?? '',
      Source: {
        PersistentVolumeName: spec.source?.persistentVolumeName ?? null,
        InlineVolumeSpec: inline ? goValueOf('PersistentVolumeSpec', inline) : null,
      },
      NodeName: spec.nodeName ?? '',
    }
    errors.push(invalid(specPath, structValue(shown), immutableText))
  }
  return errors
}

function validateAttachment(object: MutableObject): FieldError[] {
  const errors: FieldError[] = []
  const { attacher, source = {}, nodeName = '' } = part<Spec>(object, 'spec')
  if (!attacher) errors.push(required(specPath.child('attacher')))
  const sourcePath = specPath.child('source')
  const { inlineVolumeSpec: inline, persistentVolumeName: name } = source
  const exactlyOne = 'must specify exactly one of inlineVolumeSpec and persistentVolumeName'
  if (inline && name !== undefined) errors.push(forbidden(sourcePath, exactlyOne))
  else if (!inline && name === undefined) errors.push(required(sourcePath, exactlyOne))
  else if (inline) validateInlineVolume(inline, sourcePath.child('inlineVolumeSpec'), errors)
  else if (name === '') {
    errors.push(required(sourcePath.child('persistentVolumeName'), 'must specify non empty persistentVolumeName'))
  }
  addInvalid(errors, specPath.child('nodeName'), nodeName, nameIsDNSSubdomain(nodeName, false))
  validateStatus(part<Status>(object, 'status'), errors)
  return errors
}

/** Checks a volume that the attachment describes itself: it must be a CSI volume without the properties of a PersistentVolume. */
function validateInlineVolume(volume: InlineVolume, path: FieldPath, errors: FieldError[]): void {
  const { accessModes = [], capacity = {}, persistentVolumeReclaimPolicy: policy, volumeMode } = volume
  const inContext = 'in the context of inline volumes'
  const refuse = (field: string): void => {
    errors.push(forbidden(path.child(field), `may not be specified ${inContext}`))
  }
  if (volume.claimRef) refuse('claimRef')
  if (Object.keys(capacity).length > 0) refuse('capacity')
  if (!volume.csi) errors.push(required(path.child('csi'), `has to be specified ${inContext}`))
  if (accessModes.length === 0) errors.push(required(path.child('accessModes')))
  checkAccessModes(errors, path.child('accessModes'), accessModes)
  if (policy && policy !== 'Retain') {
    errors.push(forbidden(path.child('persistentVolumeReclaimPolicy'), `may only be Retain ${inContext}`))
  }
  if (volume.nodeAffinity) refuse('nodeAffinity')
  validateVolumeSource(volume, '', path, errors)
  if (volume.storageClassName) refuse('storageClassName')
  if (volumeMode !== undefined && volumeMode !== 'Filesystem') {
    const text = `may not specify volumeMode other than Filesystem ${inContext}`
    errors.push(forbidden(path.child('volumeMode'), text))
  }
}

function validateStatus(status: Status, errors: FieldError[]): void {
  const metadata = Object.entries((status.attachmentMetadata ?? {}) as Record<string, string>)
  const size = metadata.reduce((sum, [key, value]) => sum + utf8Length(key) + utf8Length(value), 0)
  if (size > maxMetadata) errors.push(tooLong(statusPath.child('attachmentMetadata'), maxMetadata))
  for (const field of ['attachError', 'detachError'] as const) {
    const { message = '', errorCode = 0 } = status[field] ?? {}
    const at = statusPath.child(field)
    // As in kube-apiserver: the message names another limit than the one that applies.
    if (isTooLong(message, maxMessage)) errors.push(tooLong(at.child('message'), maxMetadata))
    if (errorCode < 0) errors.push(invalid(at.child('errorCode'), errorCode, inclusiveRangeMessage(0, maxInt32)))
  }
}
