import { goQuote, isDNS1123Label, parseCIDRSloppy } from '@kubewright/base'
import type * as resource from '@kubewright/k8s/resource/v1'
import {
  duplicate,
  type FieldError,
  type FieldPath,
  forbidden,
  invalid,
  RawValue,
  required,
  tooLong,
  tooMany,
} from '@kubewright/schema'
import { goShown } from '../../../codec/json/go-value.ts'
import type { MutableObject } from '../../../resource/object.ts'
import { addInvalid, checkCsiDriverName, checkEnum } from '../../checks/field-checks.ts'
import { checkImmutable, isTooLong, part, statusPath } from '../../checks/strategy-checks.ts'
import { validateConditions } from '../../checks/validate-conditions.ts'
import { validateNodeSelector } from '../../core/pod/validation/validate-scheduling.ts'
import type { Unchecked } from '../../typed/unchecked.ts'
import { checkItems, checkSet } from '../devices/collections.ts'
import { checkPoolName } from '../devices/validate-device-names.ts'
import {
  checkRawObject,
  checkRequestReference,
  checkRequestReferences,
  type DeviceClaim,
  maxConfigurations,
  requestNamesOf,
  validateConfiguration,
} from './validate-device-claim.ts'

/** The status of a claim, as a client sends it. */
export type ClaimStatus = Unchecked<resource.ResourceClaimStatus>
type Allocation = Unchecked<resource.AllocationResult>
type Result = Unchecked<resource.DeviceRequestAllocationResult>
type DeviceStatus = Unchecked<resource.AllocatedDeviceStatus>

const maxReservedFor = 256
const maxResults = 32
const maxConditions = 8
const maxIPs = 16
const maxInterfaceName = 256
const maxHardwareAddress = 128

/** Identifies a device: driver, pool and name. Shares of devices belong to a feature that is off by default. */
function deviceKey({ driver = '', pool = '', device = '' }: Result | DeviceStatus): string {
  return JSON.stringify({ Driver: driver, Pool: pool, Device: device, ShareID: '' })
}

/** Removes the status of devices that this write deallocates, and fields whose feature gate is off by default. */
export function prepareClaimStatus(object: MutableObject, old: MutableObject): void {
  const [status, before] = [part<ClaimStatus>(object, 'status'), part<ClaimStatus>(old, 'status')]
  for (const result of status.allocation?.devices?.results ?? []) {
    delete result.shareID
    delete result.consumedCapacity
    delete result.bindingConditions
    delete result.bindingFailureConditions
  }
  for (const device of status.devices ?? []) delete device.shareID
  const kept = new Set((status.allocation?.devices?.results ?? []).map(deviceKey))
  const gone = new Set((before.allocation?.devices?.results ?? []).map(deviceKey).filter((key) => !kept.has(key)))
  if (!status.devices) return
  status.devices = status.devices.filter((device) => !gone.has(deviceKey(device)))
  if (status.devices.length === 0) delete status.devices
}

/** Checks a write of the status (pkg/apis/resource/validation, validateResourceClaimStatusUpdate). */
export function validateClaimStatus(object: MutableObject, old: MutableObject): FieldError[] {
  const errors: FieldError[] = []
  const [status, before] = [part<ClaimStatus>(object, 'status'), part<ClaimStatus>(old, 'status')]
  const { reservedFor = [], allocation, devices = [] } = status
  const reservedPath = statusPath.child('reservedFor')
  const checkConsumer = (consumer: (typeof reservedFor)[number], path: FieldPath): void => {
    for (const field of ['resource', 'name', 'uid'] as const)
      if (!consumer[field]) errors.push(required(path.child(field)))
  }
  checkSet(errors, reservedPath, reservedFor, maxReservedFor, checkConsumer, ({ uid = '' }) => uid)
  validateDevices(devices, new Set((allocation?.devices?.results ?? []).map(deviceKey)), errors)
  if (reservedFor.length > 0) {
    const known = new Set((before.reservedFor ?? []).map((reference) => JSON.stringify(reference)))
    if (!allocation) errors.push(forbidden(reservedPath, 'may not be specified when `allocated` is not set'))
    else if (object.metadata.deletionTimestamp && reservedFor.some((each) => !known.has(JSON.stringify(each)))) {
      const text = 'new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set'
      errors.push(forbidden(reservedPath, text))
    }
  }
  const path = statusPath.child('allocation')
  if (allocation && before.allocation) {
    checkImmutable(errors, path, allocation, before.allocation, goShown('AllocationResult', allocation))
  } else if (allocation) {
    const { devices: claim = {} } = part<{ devices?: DeviceClaim | undefined }>(object, 'spec')
    validateAllocation(allocation, requestNamesOf(claim), path, errors)
  }
  return errors
}

function validateDevices(devices: readonly DeviceStatus[], allocated: ReadonlySet<string>, errors: FieldError[]): void {
  const seen = new Set<string>()
  const path = statusPath.child('devices')
  for (const [i, device] of devices.entries()) validateDevice(device, path.index(i), allocated, errors)
  for (const [i, device] of devices.entries()) {
    const key = deviceKey(device)
    if (seen.has(key)) errors.push(duplicate(path.index(i), new RawValue(key)))
    seen.add(key)
  }
}

function validateDevice(
  device: DeviceStatus,
  path: FieldPath,
  allocated: ReadonlySet<string>,
  errors: FieldError[],
): void {
  const { conditions = [], networkData } = device
  checkDevice(device, path, errors)
  const key = deviceKey(device)
  if (!allocated.has(key)) errors.push(invalid(path, new RawValue(key), 'must be an allocated device in the claim'))
  if (conditions.length > maxConditions) {
    errors.push(tooMany(path.child('conditions'), conditions.length, maxConditions))
  }
  validateConditions(conditions, path.child('conditions'), errors)
  if (device.data !== undefined) checkRawObject(device.data, path.child('data'), errors)
  if (!networkData) return
  const { interfaceName = '', hardwareAddress = '', ips = [] } = networkData
  const at = path.child('networkData')
  if (isTooLong(interfaceName, maxInterfaceName)) errors.push(tooLong(at.child('interfaceName'), maxInterfaceName))
  if (isTooLong(hardwareAddress, maxHardwareAddress)) {
    errors.push(tooLong(at.child('hardwareAddress'), maxHardwareAddress))
  }
  const checkAddress = (text: string, item: FieldPath): void => checkInterfaceAddress(text, item, errors)
  checkSet(errors, at.child('ips'), ips, maxIPs, checkAddress, (text) => text)
}

/** Checks an address with the length of its prefix (apimachinery/pkg/util/validation/ip.go). */
function checkInterfaceAddress(text: string, path: FieldPath, errors: FieldError[]): void {
  const parsed = parseCIDRSloppy(text)
  if (!parsed) {
    const why = 'must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or 2001:db8::1/64)'
    errors.push(invalid(path, text, why))
    return
  }
  const address = parsed.address.unmap()
  const bits = address === parsed.address ? parsed.bits : Math.max(0, parsed.bits - 96)
  const canonical = `${address}/${bits}`
  if (text !== canonical) errors.push(invalid(path, text, `must be in canonical form (${goQuote(canonical)})`))
}

function checkDevice(device: Result | DeviceStatus, path: FieldPath, errors: FieldError[]): void {
  checkCsiDriverName(errors, path.child('driver'), device.driver)
  checkPoolName(errors, path.child('pool'), device.pool ?? '')
  addInvalid(errors, path.child('device'), device.device ?? '', isDNS1123Label(device.device ?? ''))
}

function validateAllocation(
  { devices = {}, nodeSelector }: Allocation,
  names: ReadonlySet<string>,
  path: FieldPath,
  errors: FieldError[],
): void {
  const at = path.child('devices')
  checkItems(errors, at.child('results'), devices.results ?? [], maxResults, (result, item) => {
    checkRequestReference(result.request ?? '', names, item.child('request'), errors)
    checkDevice(result, item, errors)
  })
  checkItems(errors, at.child('config'), devices.config ?? [], 2 * maxConfigurations, (config, item) => {
    checkEnum(errors, item.child('source'), config.source, ['FromClaim', 'FromClass'], true)
    checkRequestReferences(config.requests ?? [], names, item.child('requests'), errors)
    validateConfiguration(config, item, errors)
  })
  if (nodeSelector) validateNodeSelector(nodeSelector, path.child('nodeSelector'), errors)
}
