import { isValidPortNum, nameIsDNSSubdomain, parseIPSloppy } from '@kubewright/base'
import type * as core from '@kubewright/k8s/core/v1'
import { type FieldError, FieldPath, invalid, required } from '@kubewright/schema'
import type { MutableObject } from '../../../resource/object.ts'
import { semanticEqual } from '../../../resource/semantic-equal.ts'
import { addInvalid, checkEnum, checkLabel, checkQualifiedName } from '../../checks/field-checks.ts'
import { checkLegacyIp } from '../../checks/ip-checks.ts'
import { ipWarnings } from '../../checks/ip-warnings.ts'
import { type BuiltinDefinition, defineBuiltin } from '../../define-builtin.ts'
import type { Unchecked } from '../../typed/unchecked.ts'
import { endpointsTable } from './endpoints-table.ts'

type Subset = Unchecked<core.EndpointSubset>
type Address = NonNullable<Subset['addresses']>[number]
type Port = NonNullable<Subset['ports']>[number]

const subsetsPath = FieldPath.of('subsets')

function subsetsOf(endpoints: MutableObject): Subset[] {
  return (endpoints['subsets'] ?? []) as Subset[]
}

function validateSubsets(endpoints: MutableObject): FieldError[] {
  const errors: FieldError[] = []
  for (const [i, subset] of subsetsOf(endpoints).entries()) {
    const at = subsetsPath.index(i)
    const { addresses = [], notReadyAddresses = [], ports = [] } = subset
    if (addresses.length === 0 && notReadyAddresses.length === 0) {
      errors.push(required(at, 'must specify `addresses` or `notReadyAddresses`'))
    }
    for (const [j, address] of addresses.entries()) validateAddress(address, at.child('addresses').index(j), errors)
    for (const [j, address] of notReadyAddresses.entries()) {
      validateAddress(address, at.child('notReadyAddresses').index(j), errors)
    }
    for (const [j, port] of ports.entries()) validatePort(port, ports.length > 1, at.child('ports').index(j), errors)
  }
  return errors
}

function validateAddress({ ip = '', hostname, nodeName }: Address, path: FieldPath, errors: FieldError[]): void {
  checkLegacyIp(errors, path.child('ip'), ip)
  if (hostname) checkLabel(errors, path.child('hostname'), hostname)
  if (nodeName !== undefined) addInvalid(errors, path.child('nodeName'), nodeName, nameIsDNSSubdomain(nodeName, false))
  checkEndpointIp(errors, path.child('ip'), ip)
}

/** Checks that an address is reachable from other hosts: it must not be unspecified, loopback, link-local or multicast. */
export function checkEndpointIp(errors: FieldError[], path: FieldPath, text: string): void {
  const ip = parseIPSloppy(text)?.unmap()
  const reject = (why: string): void => {
    errors.push(invalid(path, text, why))
  }
  if (!ip) {
    reject('must be a valid IP address')
    return
  }
  if (ip.isUnspecified()) reject(`may not be unspecified (${text})`)
  if (ip.isLoopback()) reject('may not be in the loopback range (127.0.0.0/8, ::1/128)')
  if (ip.isLinkLocalUnicast()) reject('may not be in the link-local range (169.254.0.0/16, fe80::/10)')
  if (ip.isLinkLocalMulticast()) reject('may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)')
}

function validatePort(
  { name, port = 0, protocol, appProtocol }: Port,
  needsName: boolean,
  path: FieldPath,
  errors: FieldError[],
): void {
  if (name) checkLabel(errors, path.child('name'), name)
  else if (needsName) errors.push(required(path.child('name')))
  addInvalid(errors, path.child('port'), port, isValidPortNum(port))
  checkEnum(errors, path.child('protocol'), protocol, ['SCTP', 'TCP', 'UDP'], true)
  if (appProtocol !== undefined) checkQualifiedName(errors, path.child('appProtocol'), appProtocol)
}

function warnings(endpoints: MutableObject): string[] {
  // The endpoints controller writes canonical addresses.
  if (endpoints.metadata.labels?.['endpoints.kubernetes.io/managed-by'] === 'endpoint-controller') return []
  return subsetsOf(endpoints).flatMap((subset, i) =>
    (['addresses', 'notReadyAddresses'] as const).flatMap((list) =>
      (subset[list] ?? []).flatMap(({ ip = '' }, j) =>
        ipWarnings(subsetsPath.index(i).child(list).index(j).child('ip'), ip),
      ),
    ),
  )
}

/** Endpoints (pkg/registry/core/endpoint). */
export const endpoints: BuiltinDefinition = defineBuiltin({
  group: '',
  resource: 'endpoints',
  table: endpointsTable,
  storagePath: 'services/endpoints/',
  deprecation: 'v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice',
  strategy: {
    validateName: nameIsDNSSubdomain,
    allowCreateOnUpdate: true,
    setDefaults: (object) => {
      for (const { ports } of subsetsOf(object)) for (const port of ports ?? []) port.protocol ||= 'TCP'
    },
    validate: validateSubsets,
    validateUpdate: (object, old) => {
      const errors = validateSubsets(object)
      // Subsets that an older version accepted stay valid until they change.
      return errors.length > 0 && semanticEqual(subsetsOf(object), subsetsOf(old)) ? [] : errors
    },
    warningsOnCreate: warnings,
    warningsOnUpdate: warnings,
  },
})
