import { formatLabelSelector } from '@kubewright/api'
import { deepEqual, isValidPortName, isValidPortNum, nameIsDNSSubdomain, parseCIDRSloppy } from '@kubewright/base'
import type { NetworkPolicy } from '@kubewright/k8s'
import type * as networking from '@kubewright/k8s/networking/v1'
import { type FieldError, type FieldPath, forbidden, invalid, required } from '@kubewright/schema'
import type { MutableObject } from '../../../resource/object.ts'
import { ageColumn, defineTable, nameColumn, textColumn } from '../../../table/columns.ts'
import { asSelector } from '../../../table/loose-selector.ts'
import { addInvalid, unsupported } from '../../checks/field-checks.ts'
import { checkLegacyCidr } from '../../checks/ip-checks.ts'
import { cidrWarnings } from '../../checks/ip-warnings.ts'
import { checkSelector, part, specPath } from '../../checks/strategy-checks.ts'
import { type BuiltinDefinition, defineBuiltin } from '../../define-builtin.ts'
import type { Unchecked } from '../../typed/unchecked.ts'

type Spec = Unchecked<networking.NetworkPolicySpec>
type Peer = Unchecked<networking.NetworkPolicyPeer>
type Port = Unchecked<networking.NetworkPolicyPort>

interface Options {
  readonly allowInvalidLabelValue: boolean
  /** CIDRs of the stored object, which are not checked again. */
  readonly knownCidrs: ReadonlySet<string>
}

const protocols = ['TCP', 'UDP', 'SCTP']

/** NetworkPolicies (pkg/registry/networking/networkpolicy). */
export const networkPolicies: BuiltinDefinition = defineBuiltin({
  group: 'networking.k8s.io',
  resource: 'networkpolicies',
  table: defineTable<NetworkPolicy>([
    nameColumn,
    textColumn('Pod-Selector', 'Label selector of the pods.', ({ spec }) =>
      formatLabelSelector(asSelector(spec?.podSelector ?? {})),
    ),
    ageColumn,
  ]),
  strategy: {
    validateName: nameIsDNSSubdomain,
    metadataOnUpdate: ['create', 'update'],
    setDefaults: (object) => setDefaults((object['spec'] ??= {}) as Spec),
    // Compared strictly: a list that is empty instead of absent is a change.
    generation: (object, old) => !deepEqual(object['spec'], old['spec']),
    validate: (object) => {
      const errors: FieldError[] = []
      validateSpec(part<Spec>(object, 'spec'), { allowInvalidLabelValue: false, knownCidrs: new Set() }, errors)
      return errors
    },
    validateUpdate: (object, old) => {
      const [spec, before] = [part<Spec>(object, 'spec'), part<Spec>(old, 'spec')]
      const invalidBefore: FieldError[] = []
      checkSelector(invalidBefore, specPath, before.podSelector)
      const allowInvalidLabelValue = invalidBefore.length > 0
      const errors: FieldError[] = []
      validateSpec(spec, { allowInvalidLabelValue, knownCidrs: new Set() }, errors)
      const knownCidrs = new Set<string>()
      for (const { peer } of peersOf(before)) {
        knownCidrs.add(peer.ipBlock?.cidr ?? '')
        for (const except of peer.ipBlock?.except ?? []) knownCidrs.add(except)
      }
      validateSpec(spec, { allowInvalidLabelValue, knownCidrs }, errors)
      return errors
    },
    warningsOnCreate: warnings,
    warningsOnUpdate: warnings,
  },
})

function setDefaults(spec: Spec): void {
  if ((spec.policyTypes ?? []).length === 0) {
    spec.policyTypes = (spec.egress ?? []).length > 0 ? ['Ingress', 'Egress'] : ['Ingress']
  }
  for (const rule of [...(spec.ingress ?? []), ...(spec.egress ?? [])]) {
    for (const port of rule.ports ?? []) port.protocol ??= 'TCP'
  }
}

function* peersOf(spec: Spec): Generator<{ peer: Peer; path: FieldPath }> {
  for (const [i, { from = [] }] of (spec.ingress ?? []).entries()) {
    const path = specPath.child('ingress').index(i).child('from')
    for (const [k, peer] of from.entries()) yield { peer, path: path.index(k) }
  }
  for (const [i, { to = [] }] of (spec.egress ?? []).entries()) {
    const path = specPath.child('egress').index(i).child('to')
    for (const [k, peer] of to.entries()) yield { peer, path: path.index(k) }
  }
}

function warnings(object: MutableObject): string[] {
  return [...peersOf(part<Spec>(object, 'spec'))].flatMap(({ peer: { ipBlock }, path }) => {
    const at = path.child('ipBlock')
    const except = (ipBlock?.except ?? []).flatMap((range, i) => cidrWarnings(at.child('except').index(i), range))
    return ipBlock ? [...cidrWarnings(at.child('cidr'), ipBlock.cidr ?? ''), ...except] : []
  })
}

function validateSpec(spec: Spec, options: Options, errors: FieldError[]): void {
  checkSelector(errors, specPath.child('podSelector'), spec.podSelector, options.allowInvalidLabelValue)
  for (const [i, { ports = [], from = [] }] of (spec.ingress ?? []).entries()) {
    const at = specPath.child('ingress').index(i)
    for (const [k, port] of ports.entries()) validatePort(port, at.child('ports').index(k), errors)
    for (const [k, peer] of from.entries()) validatePeer(peer, options, at.child('from').index(k), errors)
  }
  for (const [i, { ports = [], to = [] }] of (spec.egress ?? []).entries()) {
    const at = specPath.child('egress').index(i)
    for (const [k, port] of ports.entries()) validatePort(port, at.child('ports').index(k), errors)
    for (const [k, peer] of to.entries()) validatePeer(peer, options, at.child('to').index(k), errors)
  }
  const types = spec.policyTypes ?? []
  const typesPath = specPath.child('policyTypes')
  if (types.length > 2) {
    errors.push(invalid(typesPath, types, 'may not specify more than two policyTypes'))
    return
  }
  for (const [i, type] of types.entries()) {
    if (type !== 'Ingress' && type !== 'Egress') {
      errors.push(unsupported(typesPath.index(i), type, ['Ingress', 'Egress']))
    }
  }
}

function validatePort({ protocol, port, endPort }: Port, path: FieldPath, errors: FieldError[]): void {
  if (protocol !== undefined && !protocols.includes(protocol)) {
    errors.push(unsupported(path.child('protocol'), protocol, protocols))
  }
  const [portPath, endPath] = [path.child('port'), path.child('endPort')]
  if (typeof port === 'number') {
    addInvalid(errors, portPath, port, isValidPortNum(port))
    if (endPort === undefined) return
    if (endPort < port) errors.push(invalid(endPath, port, 'must be greater than or equal to `port`'))
    addInvalid(errors, endPath, endPort, isValidPortNum(endPort))
  } else if (port !== undefined) {
    if (endPort !== undefined) {
      errors.push(invalid(endPath, endPort, 'may not be specified when `port` is non-numeric'))
    }
    addInvalid(errors, portPath, port, isValidPortName(port))
  } else if (endPort !== undefined) {
    errors.push(invalid(endPath, endPort, 'may not be specified when `port` is not specified'))
  }
}

function validatePeer(peer: Peer, options: Options, path: FieldPath, errors: FieldError[]): void {
  const { podSelector, namespaceSelector, ipBlock } = peer
  checkSelector(errors, path.child('podSelector'), podSelector, options.allowInvalidLabelValue)
  checkSelector(errors, path.child('namespaceSelector'), namespaceSelector, options.allowInvalidLabelValue)
  if (ipBlock) validateBlock(ipBlock, options.knownCidrs, path.child('ipBlock'), errors)
  if (!podSelector && !namespaceSelector && !ipBlock) errors.push(required(path, 'must specify a peer'))
  else if (ipBlock && (podSelector || namespaceSelector)) {
    errors.push(forbidden(path, 'may not specify both ipBlock and another peer'))
  }
}

function validateBlock(
  { cidr = '', except = [] }: NonNullable<Peer['ipBlock']>,
  known: ReadonlySet<string>,
  path: FieldPath,
  errors: FieldError[],
): void {
  if (cidr === '') {
    errors.push(required(path.child('cidr')))
    return
  }
  checkLegacyCidr(errors, path.child('cidr'), cidr, known)
  const range = parseCIDRSloppy(cidr)?.masked()
  if (!range) return
  for (const [i, text] of except.entries()) {
    const at = path.child('except').index(i)
    checkLegacyCidr(errors, at, text, known)
    const excepted = parseCIDRSloppy(text)?.masked()
    if (!excepted || (range.contains(excepted.address) && range.bits < excepted.bits)) continue
    errors.push(invalid(at, text, 'must be a strict subset of `cidr`'))
  }
}
