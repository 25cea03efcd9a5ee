import { append, isFullyQualifiedDomainName, isValidLabelValue, nameIsDNSSubdomain } from '@kubewright/base'
import type * as discovery from '@kubewright/k8s/discovery/v1'
import {
  duplicate,
  type FieldError,
  FieldPath,
  internalError,
  invalid,
  required,
  tooMany,
  validateLabels,
} from '@kubewright/schema'
import type { MutableObject } from '../../../resource/object.ts'
import { semanticEqual } from '../../../resource/semantic-equal.ts'
import { addInvalid, checkEnum, checkLabel, checkQualifiedName, unsupported } from '../../checks/field-checks.ts'
import { checkLegacyIp, ipProblems } from '../../checks/ip-checks.ts'
import { familyOf } from '../../checks/ip-families.ts'
import { ipWarnings } from '../../checks/ip-warnings.ts'
import { checkImmutableNamed } from '../../checks/strategy-checks.ts'
import { checkEndpointIp } from '../../core/endpoints/endpoints.ts'
import { type BuiltinDefinition, defineBuiltin } from '../../define-builtin.ts'
import type { Unchecked } from '../../typed/unchecked.ts'
import { endpointSliceTable } from './endpoint-slice-table.ts'

type Endpoint = Unchecked<discovery.Endpoint>
type Port = Unchecked<discovery.EndpointPort>

interface Slice {
  addressType?: string | undefined
  endpoints?: Endpoint[] | null | undefined
  ports?: Port[] | null | undefined
}

const maxEndpoints = 1000
const maxAddresses = 100
const maxPorts = 20_000
const maxHints = 8
const maxTopologyLabels = 16
const addressTypes = ['FQDN', 'IPv4', 'IPv6']
const typePath = FieldPath.of('addressType')
const endpointsPath = FieldPath.of('endpoints')
const portsPath = FieldPath.of('ports')
const managedBy = 'endpointslice.kubernetes.io/managed-by'
const trustedManagers = ['endpointslice-controller.k8s.io', 'endpointslicemirroring-controller.k8s.io']

/** EndpointSlices (pkg/registry/discovery/endpointslice). */
export const endpointSlices: BuiltinDefinition = defineBuiltin({
  group: 'discovery.k8s.io',
  resource: 'endpointslices',
  table: endpointSliceTable,
  strategy: {
    validateName: nameIsDNSSubdomain,
    metadataOnUpdate: ['create'],
    setDefaults: (object) => {
      for (const port of (object as Slice).ports ?? []) {
        port.name ??= ''
        port.protocol ??= 'TCP'
      }
    },
    prepareForCreate: (object) => dropTopology(object, undefined),
    prepareForUpdate: dropTopology,
    generation: (object, old) =>
      !semanticEqual({ ...object, metadata: {} }, { ...old, metadata: {} }) ||
      !semanticEqual(object.metadata.labels ?? {}, old.metadata.labels ?? {}),
    validate: (object) => validateSlice(object),
    validateUpdate: (object, old) => {
      const errors = validateSlice(object, old)
      checkImmutableNamed(errors, typePath, object['addressType'], old['addressType'])
      return errors
    },
    warningsOnCreate: (object) => [
      ...(object['addressType'] === 'FQDN' ? ['spec.addressType: FQDN endpoints are deprecated'] : []),
      ...addressWarnings(object),
    ],
    warningsOnUpdate: addressWarnings,
  },
})

/** Drops the deprecated topology, unless an update leaves the endpoints unchanged. */
function dropTopology(object: MutableObject, old: MutableObject | undefined): void {
  const endpoints = (object as Slice).endpoints ?? []
  if (old && semanticEqual(endpoints, (old as Slice).endpoints ?? [])) return
  for (const endpoint of endpoints) delete endpoint.deprecatedTopology
}

function addressWarnings(object: MutableObject): string[] {
  if (trustedManagers.includes(object.metadata.labels?.[managedBy] ?? '')) return []
  return ((object as Slice).endpoints ?? []).flatMap(({ addresses = [] }, i) =>
    addresses.flatMap((address, k) => ipWarnings(endpointsPath.index(i).child('addresses').index(k), address)),
  )
}

function validateSlice(object: MutableObject, old?: MutableObject): FieldError[] {
  const errors: FieldError[] = []
  const { addressType = '', endpoints, ports } = object as Slice
  checkEnum(errors, typePath, addressType, addressTypes, true)
  validatePorts(ports ?? [], errors)
  // Unchanged endpoints are not checked again.
  if (!old || !semanticEqual(endpoints, (old as Slice).endpoints))
    validateEndpoints(endpoints ?? [], addressType, errors)
  return errors
}

function validatePorts(ports: readonly Port[], errors: FieldError[]): void {
  if (ports.length > maxPorts) {
    errors.push(tooMany(portsPath, ports.length, maxPorts))
    return
  }
  const names = new Set<string>()
  for (const [i, { name = '', protocol, appProtocol }] of ports.entries()) {
    const at = portsPath.index(i)
    if (name !== '') checkLabel(errors, at.child('name'), name)
    if (names.has(name)) errors.push(duplicate(at.child('name'), name))
    names.add(name)
    if (protocol === undefined) errors.push(required(at.child('protocol')))
    else if (!['TCP', 'UDP', 'SCTP'].includes(protocol)) {
      errors.push(unsupported(at.child('protocol'), protocol, ['SCTP', 'TCP', 'UDP']))
    }
    if (appProtocol !== undefined) checkQualifiedName(errors, at.child('appProtocol'), appProtocol)
  }
}

function validateEndpoints(endpoints: readonly Endpoint[], addressType: string, errors: FieldError[]): void {
  if (endpoints.length > maxEndpoints) {
    errors.push(tooMany(endpointsPath, endpoints.length, maxEndpoints))
    return
  }
  for (const [i, endpoint] of endpoints.entries())
    validateEndpoint(endpoint, addressType, endpointsPath.index(i), errors)
}

function validateEndpoint(endpoint: Endpoint, addressType: string, path: FieldPath, errors: FieldError[]): void {
  const { addresses = [], nodeName, deprecatedTopology: topology, hostname, hints } = endpoint
  const addressesPath = path.child('addresses')
  if (addresses.length === 0) errors.push(required(addressesPath, 'must contain at least 1 address'))
  else if (addresses.length > maxAddresses) errors.push(tooMany(addressesPath, addresses.length, maxAddresses))
  for (const [i, address] of addresses.entries()) {
    validateAddress(address, addressType, addressesPath, addressesPath.index(i), errors)
  }
  if (nodeName !== undefined) addInvalid(errors, path.child('nodeName'), nodeName, nameIsDNSSubdomain(nodeName, false))
  const topologyPath = path.child('deprecatedTopology')
  const labels = Object.keys(topology ?? {}).length
  if (labels > maxTopologyLabels) errors.push(tooMany(topologyPath, labels, maxTopologyLabels))
  append(errors, validateLabels(topology as Record<string, string> | undefined, topologyPath))
  const zone = 'topology.kubernetes.io/zone'
  if (topology?.[zone] !== undefined) {
    errors.push(internalError(topologyPath.key(zone), 'reserved key was not removed in conversion'))
  }
  if (hostname !== undefined) checkLabel(errors, path.child('hostname'), hostname)
  if (hints) validateHints(hints, path.child('hints'), errors)
}

function validateAddress(
  address: string,
  addressType: string,
  listPath: FieldPath,
  path: FieldPath,
  errors: FieldError[],
): void {
  if (addressType === 'FQDN') {
    if (address === '') errors.push(required(path))
    else addInvalid(errors, path, address, isFullyQualifiedDomainName(address))
    return
  }
  if (addressType !== 'IPv4' && addressType !== 'IPv6') return
  const before = errors.length
  if (addressType === 'IPv4') checkLegacyIp(errors, path, address)
  else addInvalid(errors, path, address, ipProblems(address))
  if (errors.length > before) return
  if (familyOf(address) !== addressType) errors.push(invalid(listPath, address, `must be an ${addressType} address`))
  checkEndpointIp(errors, path, address)
}

function validateHints(hints: NonNullable<Endpoint['hints']>, path: FieldPath, errors: FieldError[]): void {
  for (const field of ['forZones', 'forNodes'] as const) {
    const list = hints[field] ?? []
    const at = path.child(field)
    if (list.length > maxHints) {
      errors.push(tooMany(at, list.length, maxHints))
      return
    }
    const seen = new Set<string>()
    for (const [i, { name = '' }] of list.entries()) {
      const namePath = at.index(i).child('name')
      if (seen.has(name)) errors.push(duplicate(namePath, name))
      seen.add(name)
      const problems = field === 'forZones' ? isValidLabelValue(name) : nameIsDNSSubdomain(name, false)
      addInvalid(errors, namePath, name, problems)
    }
  }
}
