import { isDNS1123Label, nameIsDNSSubdomain } from '@kubewright/base'
import type { ResourceSlice } from '@kubewright/k8s'
import type * as resource from '@kubewright/k8s/resource/v1'
import { type FieldError, type FieldPath, invalid, required, tooLong } from '@kubewright/schema'
import { goValueOf } from '../../../codec/json/go-value.ts'
import type { MutableObject } from '../../../resource/object.ts'
import { ageColumn, defineTable, nameColumn, textColumn } from '../../../table/columns.ts'
import { addInvalid, checkCsiDriverName } from '../../checks/field-checks.ts'
import { countSentChange } from '../../checks/sent-generation.ts'
import {
  checkImmutable,
  checkImmutableNamed,
  isTooLong,
  part,
  specPath,
  structValue,
} from '../../checks/strategy-checks.ts'
import { validateNodeSelector } from '../../core/pod/validation/validate-scheduling.ts'
import { type BuiltinDefinition, defineBuiltin } from '../../define-builtin.ts'
import type { Unchecked } from '../../typed/unchecked.ts'
import { checkSet } from '../devices/collections.ts'
import { checkDeviceQualifiedName, checkPoolName } from '../devices/validate-device-names.ts'

type Spec = Unchecked<resource.ResourceSliceSpec>
type Device = Unchecked<resource.Device>
type Attribute = Unchecked<resource.DeviceAttribute>

const maxDevices = 128
const maxAttributes = 32
const maxValue = 64
/** The maximum length of a domain, a slash and an identifier. */
const maxKey = 63 + 1 + 32
const semver =
  /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(\.(0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*)?(\+[0-9a-zA-Z-]+(\.[0-9a-zA-Z-]+)*)?$/

/** ResourceSlices, which publish the devices of drivers (pkg/registry/resource/resourceslice). */
export const resourceSlices: BuiltinDefinition = defineBuiltin({
  group: 'resource.k8s.io',
  resource: 'resourceslices',
  table: defineTable<ResourceSlice>([
    nameColumn,
    textColumn('Node', 'Node of the devices.', ({ spec }) => spec?.nodeName ?? ''),
    textColumn('Driver', 'Driver of the devices.', ({ spec }) => spec?.driver ?? ''),
    textColumn('Pool', 'Pool of the devices.', ({ spec }) => spec?.pool?.name ?? ''),
    ageColumn,
  ]),
  strategy: {
    validateName: nameIsDNSSubdomain,
    returnDeletedObject: true,
    metadataOnUpdate: ['update'],
    prepareForCreate: dropDisabledFields,
    prepareForUpdate: (object, old) => {
      countSentChange(object, old)
      dropDisabledFields(object)
    },
    generation: () => false,
    validate: (object) => validateSpec(part<Spec>(object, 'spec'), undefined),
    validateUpdate: (object, old) => validateSpec(part<Spec>(object, 'spec'), part<Spec>(old, 'spec')),
    warningsOnCreate: warnings,
    warningsOnUpdate: warnings,
  },
  selectableFields: {
    'spec.nodeName': (object) => part<Spec>(object, 'spec').nodeName ?? '',
    'spec.driver': (object) => part<Spec>(object, 'spec').driver ?? '',
  },
  unknownField: (label) => `field label not supported for resource.k8s.io/v1, Kind=ResourceSlice: ${label}`,
})

function warnings(object: MutableObject): string[] {
  const { driver = '' } = part<Spec>(object, 'spec')
  if (driver === driver.toLowerCase()) return []
  return [`spec.driver: driver names should be lowercase; "${driver}" contains uppercase characters`]
}

/** Removes fields whose feature gate is off by default. */
function dropDisabledFields(object: MutableObject): void {
  const spec = part<Spec>(object, 'spec')
  delete spec.sharedCounters
  delete spec.perDeviceNodeSelection
  for (const device of spec.devices ?? []) {
    for (const each of Object.values(device.capacity ?? {})) delete each?.requestPolicy
    for (const field of [
      'taints',
      'consumesCounters',
      'nodeName',
      'nodeSelector',
      'allNodes',
      'bindsToNode',
      'bindingConditions',
      'bindingFailureConditions',
      'allowMultipleAllocations',
    ] as const) {
      delete device[field]
    }
  }
}

function validateSpec(spec: Spec, old: Spec | undefined): FieldError[] {
  const errors: FieldError[] = []
  const { driver, pool = {} } = spec
  const poolPath = specPath.child('pool')
  checkCsiDriverName(errors, specPath.child('driver'), driver)
  checkPoolName(errors, poolPath.child('name'), pool.name ?? '')
  const { resourceSliceCount: count = 0, generation = 0 } = pool
  if (count <= 0) errors.push(invalid(poolPath.child('resourceSliceCount'), count, 'must be greater than zero'))
  if (generation < 0) {
    errors.push(invalid(poolPath.child('generation'), generation, 'must be greater than or equal to zero'))
  }
  if (old) {
    checkImmutable(errors, poolPath.child('name'), pool.name ?? '', old.pool?.name ?? '')
    checkImmutable(errors, specPath.child('driver'), driver ?? '', old.driver ?? '')
    checkImmutableNamed(errors, specPath.child('nodeName'), spec.nodeName, old.nodeName)
  }
  validatePlace(spec, errors)
  const check = (device: Device, path: FieldPath): void => validateDevice(device, path, errors)
  checkSet(errors, specPath.child('devices'), spec.devices ?? [], maxDevices, check, ({ name = '' }) => name)
  return errors
}

/** Checks that exactly one field selects the nodes of the devices. */
function validatePlace(spec: Spec, errors: FieldError[]): void {
  const { nodeName, nodeSelector } = spec
  const set: string[] = []
  if (nodeName === '') {
    errors.push(invalid(specPath.child('nodeName'), '', 'must be either unset or set to a non-empty string'))
  } else if (nodeName !== undefined) {
    set.push('`nodeName`')
    addInvalid(errors, specPath.child('nodeName'), nodeName, nameIsDNSSubdomain(nodeName, false))
  }
  if (nodeSelector) {
    set.push('`nodeSelector`')
    validateNodeSelector(nodeSelector, specPath.child('nodeSelector'), errors)
    const terms = nodeSelector.nodeSelectorTerms ?? []
    if (terms.length !== 1) {
      const path = specPath.child('nodeSelector', 'nodeSelectorTerms')
      errors.push(
        invalid(
          path,
          structValue(terms.map((term) => goValueOf('NodeSelectorTerm', term))),
          'must have exactly one node selector term',
        ),
      )
    }
  }
  for (const field of ['allNodes', 'perDeviceNodeSelection'] as const) {
    if (spec[field]) set.push(`\`${field}\``)
    else if (spec[field] === false) {
      errors.push(invalid(specPath.child(field), false, 'must be either unset or set to true'))
    }
  }
  const text = 'exactly one of `nodeName`, `nodeSelector`, `allNodes`, `perDeviceNodeSelection` is required'
  if (set.length === 0) errors.push(required(specPath, text))
  else if (set.length > 1) {
    errors.push(invalid(specPath, `{${set.join(', ')}}`, `${text}, but multiple fields are set`))
  }
}

function validateDevice(device: Device, path: FieldPath, errors: FieldError[]): void {
  const { name = '', attributes = {}, capacity = {} } = device
  addInvalid(errors, path.child('name'), name, isDNS1123Label(name))
  const [attributeNames, capacityNames] = [Object.keys(attributes), Object.keys(capacity)]
  const total = attributeNames.length + capacityNames.length
  if (total > maxAttributes) {
    const text = `the total number of attributes and capacities must not exceed ${maxAttributes}`
    errors.push(invalid(path, total, text))
  }
  for (const key of attributeNames) {
    const at = path.child('attributes').key(shortened(key))
    checkDeviceQualifiedName(errors, at, key)
    validateAttribute((attributes[key] ?? {}) as Attribute, at, errors)
  }
  for (const key of capacityNames) {
    checkDeviceQualifiedName(errors, path.child('capacity').key(shortened(key)), key)
  }
}

/** A key as errors name it: a long one without its middle. */
function shortened(key: string): string {
  const bytes = Buffer.from(key)
  if (bytes.length <= maxKey) return key
  const kept = maxKey - 3
  return `${bytes.subarray(0, (kept + 1) >> 1).toString()}...${bytes.subarray(bytes.length - (kept >> 1)).toString()}`
}

function validateAttribute(attribute: Attribute, path: FieldPath, errors: FieldError[]): void {
  const { string: text, version } = attribute
  if (text !== undefined && isTooLong(text, maxValue)) errors.push(tooLong(path.child('string'), maxValue))
  if (version !== undefined) {
    if (!semver.test(version)) {
      errors.push(invalid(path.child('version'), version, 'must be a string compatible with semver.org spec 2.0.0'))
    }
    if (isTooLong(version, maxValue)) errors.push(tooLong(path.child('version'), maxValue))
  }
  const set = [attribute.bool, attribute.int, text, version].filter((value) => value !== undefined)
  if (set.length === 1) return
  const shown = {
    IntValue: attribute.int ?? null,
    BoolValue: attribute.bool ?? null,
    StringValue: text ?? null,
    VersionValue: version ?? null,
  }
  errors.push(invalid(path, set.length === 0 ? '' : structValue(shown), 'exactly one value must be specified'))
}
