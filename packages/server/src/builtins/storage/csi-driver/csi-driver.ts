import { nameIsDNSSubdomain } from '@kubewright/base'
import type * as storage from '@kubewright/k8s/storage/v1'
import { duplicate, type FieldError, invalid, required } from '@kubewright/schema'
import { semanticEqual } from '../../../resource/semantic-equal.ts'
import { unsupported } from '../../checks/field-checks.ts'
import { checkImmutable, part, specPath } from '../../checks/strategy-checks.ts'
import { type BuiltinDefinition, defineBuiltin } from '../../define-builtin.ts'
import type { Unchecked } from '../../typed/unchecked.ts'
import { csiDriverTable } from './csi-driver-table.ts'

type Spec = Unchecked<storage.CSIDriverSpec>

const fsGroupPolicies = ['File', 'None', 'ReadWriteOnceWithFSType']
const secretsWarning =
  'spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of ' +
  'tokens in volume attributes'

/** CSIDrivers (pkg/registry/storage/csidriver). */
export const csiDrivers: BuiltinDefinition = defineBuiltin({
  group: 'storage.k8s.io',
  resource: 'csidrivers',
  table: csiDriverTable,
  strategy: {
    validateName: nameIsDNSSubdomain,
    returnDeletedObject: true,
    metadataOnUpdate: ['update'],
    allowUnconditionalUpdate: false,
    setDefaults: (object) => setDefaults((object['spec'] ??= {}) as Spec),
    prepareForUpdate: (object, old) => {
      // Unlike other kinds, a new CSIDriver has no generation.
      if (!semanticEqual(object['spec'], old['spec'])) object.metadata.generation = (old.metadata.generation ?? 0) + 1
    },
    validate: (object) => validateSpec(part<Spec>(object, 'spec')),
    validateUpdate: (object, old) => {
      const [spec, before] = [part<Spec>(object, 'spec'), part<Spec>(old, 'spec')]
      const errors = validateSpec(spec)
      checkImmutable(errors, specPath.child('attachedRequired'), spec.attachRequired, before.attachRequired)
      const [modes, modesPath] = [spec.volumeLifecycleModes, specPath.child('volumeLifecycleModes')]
      checkImmutable(errors, modesPath, modes, before.volumeLifecycleModes)
      return errors
    },
    warningsOnCreate: (object) => secretsWarnings(part<Spec>(object, 'spec')),
    warningsOnUpdate: (object, old) => {
      const [spec, before] = [part<Spec>(object, 'spec'), part<Spec>(old, 'spec')]
      return semanticEqual(spec.tokenRequests ?? [], before.tokenRequests ?? []) ? [] : secretsWarnings(spec)
    },
  },
})

function secretsWarnings({ tokenRequests = [], serviceAccountTokenInSecrets }: Spec): string[] {
  return tokenRequests.length > 0 && serviceAccountTokenInSecrets === undefined ? [secretsWarning] : []
}

function setDefaults(spec: Spec): void {
  spec.attachRequired ??= true
  spec.podInfoOnMount ??= false
  spec.storageCapacity ??= false
  spec.fsGroupPolicy ??= 'ReadWriteOnceWithFSType'
  if ((spec.volumeLifecycleModes ?? []).length === 0) spec.volumeLifecycleModes = ['Persistent']
  spec.requiresRepublish ??= false
  spec.seLinuxMount ??= false
}

function validateSpec(spec: Spec): FieldError[] {
  const errors: FieldError[] = []
  if (spec.fsGroupPolicy !== undefined && !fsGroupPolicies.includes(spec.fsGroupPolicy)) {
    errors.push(unsupported(specPath.child('fsGroupPolicy'), spec.fsGroupPolicy, fsGroupPolicies))
  }
  const requests = spec.tokenRequests ?? []
  validateTokenRequests(requests, errors)
  for (const mode of spec.volumeLifecycleModes ?? []) {
    if (mode === 'Persistent' || mode === 'Ephemeral') continue
    errors.push(unsupported(specPath.child('volumeLifecycleModes'), mode, ['Persistent', 'Ephemeral']))
  }
  if (spec.seLinuxMount === undefined) errors.push(required(specPath.child('seLinuxMount')))
  const period = spec.nodeAllocatableUpdatePeriodSeconds
  if (period !== undefined && period < 10) {
    const path = specPath.child('nodeAllocatableUpdatePeriodSeconds')
    errors.push(invalid(path, period, 'must be greater than or equal to 10 seconds'))
  }
  if (spec.serviceAccountTokenInSecrets !== undefined && requests.length === 0) {
    const text = 'serviceAccountTokenInSecrets is set but no tokenRequests are specified'
    errors.push(invalid(specPath.child('serviceAccountTokenInSecrets'), spec.serviceAccountTokenInSecrets, text))
  }
  return errors
}

function validateTokenRequests(requests: NonNullable<Spec['tokenRequests']>, errors: FieldError[]): void {
  const audiences = new Set<string>()
  for (const [i, { audience = '', expirationSeconds: seconds }] of requests.entries()) {
    const at = specPath.child('tokenRequests').index(i)
    if (audiences.has(audience)) {
      errors.push(duplicate(at.child('audience'), audience))
      continue
    }
    audiences.add(audience)
    if (seconds === undefined) continue
    const path = at.child('expirationSeconds')
    if (seconds < 600) errors.push(invalid(path, seconds, 'may not specify a duration less than 10 minutes'))
    if (seconds > 2 ** 32) errors.push(invalid(path, seconds, 'may not specify a duration larger than 2^32 seconds'))
  }
}
