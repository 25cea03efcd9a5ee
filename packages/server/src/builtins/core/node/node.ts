import { FieldSet, fieldSetPath } from '@kubewright/api'
import { append, goQuote, isValidLabelValue, nameIsDNSSubdomain, parseCIDRSloppy } from '@kubewright/base'
import type * as core from '@kubewright/k8s/core/v1'
import { duplicate, FieldError, FieldPath, forbidden, internalError, invalid } from '@kubewright/schema'
import { withConnectAdmission } from '../../../admission/connect-admission.ts'
import { goShown } from '../../../codec/json/go-value.ts'
import type { MutableObject } from '../../../resource/object.ts'
import { carryOver, statusStrategy } from '../../../resource/status-strategy.ts'
import type { Strategy } from '../../../resource/strategy.ts'
import { checkPositive, checkQualifiedName } from '../../checks/field-checks.ts'
import { cidrWarnings } from '../../checks/ip-warnings.ts'
import { type BuiltinDefinition, defineBuiltin } from '../../define-builtin.ts'
import { proxyOptions } from '../../subresources/proxy-options.ts'
import type { Unchecked } from '../../typed/unchecked.ts'
import { defaultResourceList, quantityOf } from '../pod/resources/resource-list.ts'
import { checkResourceQuantity } from '../pod/validation/containers/validate-resources.ts'
import { checkTaintEffect } from '../pod/validation/validate-scheduling.ts'
import { nodeProxySubresource } from './node-proxy.ts'
import { nodeTable } from './node-table.ts'

type Spec = Unchecked<core.NodeSpec> & { externalID?: string | undefined }
type Status = Unchecked<core.NodeStatus>

const metadataPath = FieldPath.of('metadata')
const cidrsPath = FieldPath.of('spec', 'podCIDRs')
const featureName = /^[A-Z][a-zA-Z0-9]*(\/[a-zA-Z][a-zA-Z0-9]*)*$/

function specOf(node: MutableObject): Spec {
  return (node['spec'] ?? {}) as Spec
}

function statusOf(node: MutableObject): Status {
  return (node['status'] ?? {}) as Status
}

/** Keeps `podCIDR` equal to the first of `podCIDRs`. The allocatable resources default to the capacity. */
function setDefaults(node: MutableObject): void {
  const spec = (node['spec'] ??= {}) as Spec
  // Where both differ, podCIDR wins, because older clients set nothing else.
  if (spec.podCIDR && spec.podCIDR !== spec.podCIDRs?.[0]) spec.podCIDRs = [spec.podCIDR]
  else if (spec.podCIDRs?.length) spec.podCIDR = spec.podCIDRs[0]
  const status = statusOf(node)
  defaultResourceList(status.capacity)
  defaultResourceList(status.allocatable)
  if (!status.allocatable && status.capacity) status.allocatable = { ...status.capacity }
}

function checkTaints(node: MutableObject, errors: FieldError[]): void {
  const seen = new Set<string>()
  for (const [i, taint] of (specOf(node).taints ?? []).entries()) {
    // As in core/validation: errors name the path metadata.taints, although taints are part of the spec.
    const at = metadataPath.child('taints').index(i)
    const { key = '', value = '', effect = '' } = taint
    checkQualifiedName(errors, at.child('key'), key)
    const texts = isValidLabelValue(value)
    if (texts.length > 0) errors.push(invalid(at.child('value'), value, texts.join(';')))
    checkTaintEffect(errors, at.child('effect'), effect)
    const pair = `${effect}/${key}`
    if (seen.has(pair)) {
      const { type, field, badValue } = duplicate(at, goShown('Taint', taint))
      errors.push(new FieldError(type, field, badValue, 'taints must be unique by key and effect pair'))
    }
    seen.add(pair)
  }
}

function checkResources(node: MutableObject, errors: FieldError[]): void {
  const status = statusOf(node)
  for (const list of ['capacity', 'allocatable'] as const) {
    for (const [name, amount] of Object.entries(status[list] ?? {})) {
      checkResourceQuantity(errors, FieldPath.of('status', list, name), name, quantityOf(amount))
    }
  }
}

function checkFeatures(node: MutableObject, errors: FieldError[]): void {
  const features = (statusOf(node) as { declaredFeatures?: string[] | undefined }).declaredFeatures ?? []
  const path = FieldPath.of('status', 'declaredFeatures')
  for (const [i, name] of features.entries()) {
    const prefix = `invalid feature name ${goQuote(name)}`
    if (name.length > 253) errors.push(invalid(path.index(i), name, `${prefix}: must be no more than 253 characters`))
    else if (!featureName.test(name)) {
      const text =
        "must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes"
      errors.push(invalid(path.index(i), name, `${prefix}: ${text}`))
    }
    const next = features[i + 1]
    if (next === name) errors.push(duplicate(path.index(i + 1), next))
    else if (next !== undefined && name > next) {
      errors.push(invalid(path.index(i + 1), next, 'list must be sorted alphabetically'))
    }
  }
}

function validateNode(node: MutableObject): FieldError[] {
  const errors: FieldError[] = []
  checkTaints(node, errors)
  checkResources(node, errors)
  const swap = (statusOf(node).nodeInfo as { swap?: { capacity?: number | undefined } | undefined } | undefined)?.swap
  if (swap?.capacity !== undefined) {
    checkPositive(errors, metadataPath.child('nodeSwapStatus', 'capacity'), swap.capacity)
  }
  checkFeatures(node, errors)
  const ranges = specOf(node).podCIDRs ?? []
  const parsed = ranges.map((range) => parseCIDRSloppy(range))
  for (const [i, range] of ranges.entries()) {
    if (parsed[i]) continue
    errors.push(invalid(cidrsPath.index(i), range, 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)'))
  }
  if (ranges.length > 1) {
    const bad = parsed.findIndex((range) => !range)
    if (bad >= 0) {
      const why = `invalid CIDR[${bad}]: <nil> (invalid CIDR address: ${ranges[bad]})`
      errors.push(internalError(cidrsPath, `invalid PodCIDRs. failed to check with dual stack with error:${why}`))
    }
    const families = new Set(bad >= 0 ? [] : parsed.map((range) => range?.address.family))
    if (families.size !== 2 || ranges.length > 2) {
      errors.push(invalid(cidrsPath, ranges, 'may specify no more than one CIDR for each IP family'))
    }
  }
  return errors
}

function validateNodeUpdate(node: MutableObject, old: MutableObject): FieldError[] {
  const errors: FieldError[] = []
  checkResources(node, errors)
  checkFeatures(node, errors)
  const seen = new Set<string>()
  for (const [i, address] of (statusOf(node).addresses ?? []).entries()) {
    const key = `${address.type}/${address.address}`
    if (seen.has(key)) {
      errors.push(duplicate(FieldPath.of('status', 'addresses').index(i), goShown('NodeAddress', address)))
    }
    seen.add(key)
  }
  const [spec, before] = [specOf(node), specOf(old)]
  const [ranges, rangesBefore] = [spec.podCIDRs ?? [], before.podCIDRs ?? []]
  const fixedRange = 'node updates may not change podCIDR except from "" to valid'
  if (rangesBefore.length > 0 && ranges.length !== rangesBefore.length) errors.push(forbidden(cidrsPath, fixedRange))
  else {
    for (const [i, range] of rangesBefore.entries()) {
      if (ranges[i] !== range) errors.push(forbidden(cidrsPath, fixedRange))
    }
  }
  if (before.providerID && before.providerID !== spec.providerID) {
    const text = 'node updates may not change providerID except from "" to valid'
    errors.push(forbidden(FieldPath.of('spec', 'providerID'), text))
  }
  checkTaints(node, errors)
  if ((spec.externalID ?? '') !== (before.externalID ?? '')) {
    errors.push(forbidden(FieldPath.of('spec', 'externalID'), 'may not be updated'))
  }
  return errors
}

function warnings(node: MutableObject): string[] {
  const spec = specOf(node)
  const found: string[] = []
  if (spec.externalID) found.push('spec.externalID: this field is deprecated, and is unused by Kubernetes')
  for (const [i, range] of (spec.podCIDRs ?? []).entries()) append(found, cidrWarnings(cidrsPath.index(i), range))
  return found
}

/**
 * Drops the fields of dynamic kubelet configuration, which Kubernetes has removed, and fields whose feature gate is off by default. As in
 * kube-apiserver, a write of the status keeps declared features, and later writes of such a node do too.
 */
function dropDisabledFields(node: MutableObject, old?: MutableObject): void {
  delete specOf(node).configSource
  dropConfig(node)
  if (!old || statusOf(old).declaredFeatures === undefined) delete statusOf(node).declaredFeatures
}

function dropConfig(node: MutableObject): void {
  delete statusOf(node).config
}

const strategy: Strategy = {
  validateName: nameIsDNSSubdomain,
  setDefaults,
  // A create keeps the status, because a kubelet registers its node with the status.
  prepareForCreate: (node) => dropDisabledFields(node),
  prepareForUpdate: (node, old) => {
    carryOver(node, old, ['status'])
    dropDisabledFields(node, old)
  },
  validate: validateNode,
  metadataOnUpdate: ['create', 'update'],
  validateUpdate: (node, old) => [...validateNode(node), ...validateNodeUpdate(node, old)],
  warningsOnCreate: warnings,
  warningsOnUpdate: warnings,
  resetFields: FieldSet.of(fieldSetPath('status')),
}

/** Nodes (pkg/registry/core/node). */
export const nodes: BuiltinDefinition = defineBuiltin({
  group: '',
  resource: 'nodes',
  table: nodeTable,
  storagePath: 'minions/',
  withServer: (server) => {
    const proxy = nodeProxySubresource(server)
    return {
      subresources: { proxy: withConnectAdmission(server.admission, 'proxy', proxyOptions('Node'), proxy) },
    }
  },
  strategy,
  subresources: {
    status: {
      verbs: ['get', 'patch', 'update'],
      strategy: statusStrategy(strategy, { prepareForUpdate: dropConfig, validateUpdate: validateNodeUpdate }),
    },
  },
  selectableFields: { 'spec.unschedulable': (node) => String(specOf(node).unschedulable ?? false) },
  unknownField: (label) => `field label not supported: ${label}`,
})
