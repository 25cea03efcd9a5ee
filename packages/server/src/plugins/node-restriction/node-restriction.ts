import { type ApiError, newNotFound } from '@kubewright/api'
import { deepEqual, goQuote } from '@kubewright/base'
import { parseCertificateRequest } from '@kubewright/base/pki'
import type { Node, PersistentVolumeClaim, Pod } from '@kubewright/k8s'
import type { AdmissionAttributes, AdmissionPlugin } from '../../admission/admission.ts'
import type { Authorizer } from '../../auth/authorizer.ts'
import { nodeNameOf } from '../../auth/node/node-identity.ts'
import { mirrorAnnotation } from '../../auth/node/pod-references.ts'
import {
  partsOf,
  requestPem,
} from '../../builtins/certificates/certificate-signing-request/validate-certificate-signing-request.ts'
import type { ObjectLookup, SharedObject } from '../../registry/object-lookup.ts'
import type { MutableObject } from '../../resource/object.ts'
import { admissionForbidden } from '../admission-forbidden.ts'
import { changedLabels, isForbiddenLabel } from './node-labels.ts'
import { podReferenceProblem } from './pod-reference-problem.ts'
import { tokenAudienceProblem } from './token-audience.ts'

const leaseNamespace = 'kube-node-lease'
const nodeSigners: ReadonlySet<string | undefined> = new Set([
  'kubernetes.io/kubelet-serving',
  'kubernetes.io/kube-apiserver-client-kubelet',
])

/** The parts of the server that {@link nodeRestriction} uses. */
export interface NodeRestrictionParts {
  readonly lookup: ObjectLookup
  readonly authorizer: Authorizer
}

/** Checks one request of the kubelet of a node. Throws an ApiError, or returns the reason of a 403. */
type Check = (node: string, attributes: AdmissionAttributes) => Promise<string | undefined> | string | undefined

/**
 * Limits the writes of kubelets to their own node and its pods (plugin/pkg/admission/noderestriction). The node authorizer decides by
 * names only; this plugin sees the objects.
 */
export function nodeRestriction(parts: NodeRestrictionParts): AdmissionPlugin {
  const checks: ReadonlyMap<string, Check> = new Map<string, Check>([
    ['/pods', (node, attributes) => checkPod(parts, node, attributes)],
    ['/nodes', checkNode],
    ['/persistentvolumeclaims', checkClaim],
    ['/serviceaccounts', (node, attributes) => checkToken(parts, node, attributes)],
    ['certificates.k8s.io/podcertificaterequests', () => 'PodCertificateRequest feature gate is disabled'],
    ['coordination.k8s.io/leases', checkLease],
    ['storage.k8s.io/csinodes', checkCsiNode],
    ['resource.k8s.io/resourceslices', checkResourceSlice],
    ['certificates.k8s.io/certificatesigningrequests', checkSigningRequest],
  ])
  const restrict = async (node: string, attributes: AdmissionAttributes): Promise<void> => {
    const { context, resource } = attributes
    const check = checks.get(`${resource.kind.group}/${resource.kind.plural}`)
    const problem =
      node === '' ? `could not determine node from user ${goQuote(context.user.name)}` : await check?.(node, attributes)
    if (problem !== undefined) throw admissionForbidden(attributes, problem)
  }
  return {
    name: 'NodeRestriction',
    mutate: (attributes) => {
      const node = nodeNameOf(attributes.context.user)
      return node === undefined || attributes.operation === 'CONNECT' ? undefined : restrict(node, attributes)
    },
  }
}

/** The error of a Kubernetes lister, which names the kind in the singular. */
function listerNotFound(resource: string, name: string): ApiError {
  return newNotFound({ group: '', resource }, name)
}

async function podOf({ lookup }: NodeRestrictionParts, namespace: string, name: string): Promise<Pod> {
  const pod = await lookup.find(['', 'v1', 'pods'], namespace, name)
  if (!pod) throw listerNotFound('pod', name)
  return pod as unknown as Pod
}

async function checkPod(
  parts: NodeRestrictionParts,
  node: string,
  attributes: AdmissionAttributes,
): Promise<string | undefined> {
  const { subresource, operation, namespace, name, object } = attributes
  switch (subresource) {
    case '': {
      if (operation === 'CREATE') return checkPodCreate(parts, node, object as unknown as Pod)
      if (operation !== 'DELETE')
        return `unexpected operation ${goQuote(operation)}, node ${goQuote(node)} can only create and delete mirror pods`
      const pod = await podOf(parts, namespace, name)
      if (pod.spec?.nodeName === node) return undefined
      return `node ${goQuote(node)} can only delete pods with spec.nodeName set to itself`
    }
    case 'status':
      return checkPodStatus(node, attributes)
    case 'eviction': {
      if (operation !== 'CREATE') return `unexpected operation ${operation}`
      const podName = name || (object?.metadata.name ?? '')
      if (podName === '') return 'could not determine pod from request data'
      const pod = await podOf(parts, namespace, podName)
      return pod.spec?.nodeName === node
        ? undefined
        : `node ${node} can only evict pods with spec.nodeName set to itself`
    }
    default:
      return `unexpected pod subresource ${goQuote(subresource)}, only 'status' and 'eviction' are allowed`
  }
}

async function checkPodCreate({ lookup }: NodeRestrictionParts, node: string, pod: Pod): Promise<string | undefined> {
  const quoted = goQuote(node)
  if (pod.metadata.annotations?.[mirrorAnnotation] === undefined) {
    return `pod does not have ${goQuote(mirrorAnnotation)} annotation, node ${quoted} can only create mirror pods`
  }
  if (pod.spec?.nodeName !== node) return `node ${quoted} can only create pods with spec.nodeName set to itself`
  const [owner, ...others] = pod.metadata.ownerReferences ?? []
  if (others.length > 0) return `node ${quoted} can only create pods with a single owner reference set to itself`
  if (owner?.apiVersion !== 'v1' || owner.kind !== 'Node' || owner.name !== node) {
    return `node ${quoted} can only create pods with an owner reference set to itself`
  }
  if (!owner.controller) return `node ${quoted} can only create pods with a controller owner reference set to itself`
  if (owner.blockOwnerDeletion) return `node ${quoted} must not set blockOwnerDeletion on an owner reference`
  const own = await lookup.find(['', 'v1', 'nodes'], '', node)
  if (!own) throw listerNotFound('node', node)
  const { uid = '' } = own.metadata
  if (owner.uid !== uid) return `node ${node} UID mismatch: expected ${owner.uid} got ${uid}`
  const references = podReferenceProblem(pod.spec)
  return references === undefined ? undefined : `node ${quoted} can not create pods that reference ${references}`
}

function checkPodStatus(node: string, { operation, object, old }: AdmissionAttributes): string | undefined {
  if (operation !== 'UPDATE') return `unexpected operation ${goQuote(operation)}`
  const [before, after] = [old, object] as unknown as [Pod, Pod]
  const quoted = goQuote(node)
  if (before.spec?.nodeName !== node)
    return `node ${quoted} can only update pod status for pods with spec.nodeName set to itself`
  if (!isSame(before.metadata.labels, after.metadata.labels, {}))
    return `node ${quoted} cannot update labels through pod status`
  if (!isSame(before.status?.resourceClaimStatuses, after.status?.resourceClaimStatuses, []))
    // The typo is Kubernetes' own.
    return `node ${quoted} cannot update resource claim statues`
  if (!isSame(before.status?.extendedResourceClaimStatus, after.status?.extendedResourceClaimStatus, null))
    return `node ${quoted} cannot update extended resource claim status`
  return undefined
}

/** Compares two values; a missing value equals the empty one. */
function isSame(a: unknown, b: unknown, empty: unknown): boolean {
  return deepEqual(a ?? empty, b ?? empty)
}

function checkNode(node: string, { name, operation, object, old }: AdmissionAttributes): string | undefined {
  const quoted = goQuote(node)
  if (name !== node) return `node ${quoted} is not allowed to modify node ${goQuote(name)}`
  const [before, after] = [old, object] as unknown as [Node, Node]
  const forbidden = (): string[] =>
    changedLabels(after.metadata.labels, before?.metadata.labels).filter(isForbiddenLabel).sort()
  if (operation === 'CREATE') {
    if (after.spec?.configSource) return `node ${quoted} is not allowed to create pods with a non-nil configSource`
    const labels = forbidden()
    return labels.length === 0
      ? undefined
      : `node ${quoted} is not allowed to set the following labels: ${labels.join(', ')}`
  }
  if (operation !== 'UPDATE') return undefined
  const { configSource, taints } = after.spec ?? {}
  if (configSource && !isSame(configSource, before.spec?.configSource, null))
    return `node ${quoted} is not allowed to update configSource to a new non-nil configSource`
  if (!isSame(taints, before.spec?.taints, [])) return `node ${quoted} is not allowed to modify taints`
  if (!isSame(after.metadata.ownerReferences, before.metadata.ownerReferences, []))
    return `node ${quoted} is not allowed to modify ownerReferences`
  const labels = forbidden()
  return labels.length === 0 ? undefined : `is not allowed to modify labels: ${labels.join(', ')}`
}

function checkClaim(node: string, { subresource, operation, object, old }: AdmissionAttributes): string | undefined {
  if (subresource !== 'status') return 'may only update PVC status'
  if (operation !== 'UPDATE') return `unexpected operation ${goQuote(operation)}`
  const [before, after] = [withoutReport(old!), withoutReport(object!)]
  if (deepEqual(before, after)) return undefined
  const changed = Object.keys({ ...before, ...after }).filter((field) => !deepEqual(before[field], after[field]))
  return `node ${goQuote(node)} is not allowed to update fields other than status.quantity and status.conditions: ${changed.join(', ')}`
}

/** The fields of a claim that kubelets must not change, by path. */
function withoutReport(object: MutableObject): Readonly<Record<string, unknown>> {
  const { metadata, spec, status } = object as unknown as PersistentVolumeClaim
  const { capacity: _c, conditions: _o, allocatedResources: _a, allocatedResourceStatuses: _s, ...rest } = status ?? {}
  const fields: Record<string, unknown> = {}
  for (const [name, value] of Object.entries(metadata)) {
    if (name !== 'resourceVersion' && name !== 'managedFields') fields[`metadata.${name}`] = value
  }
  for (const [name, value] of Object.entries(spec ?? {})) fields[`spec.${name}`] = value
  for (const [name, value] of Object.entries(rest)) fields[`status.${name}`] = value
  return fields
}

interface TokenRequestFields {
  readonly audiences?: readonly string[] | null | undefined
  readonly boundObjectRef?:
    | {
        readonly apiVersion?: string | undefined
        readonly kind?: string | undefined
        readonly name?: string | undefined
        readonly uid?: string | undefined
      }
    | null
    | undefined
}

/** A token must be bound to a pod of the node. The server adds the binding to the node itself. */
async function checkToken(
  parts: NodeRestrictionParts,
  node: string,
  attributes: AdmissionAttributes,
): Promise<string | undefined> {
  const { operation, subresource, object, namespace } = attributes
  if (operation !== 'CREATE' || subresource !== 'token') return undefined
  const { boundObjectRef: bound, audiences } = (object?.['spec'] ?? {}) as TokenRequestFields
  if (bound?.apiVersion !== 'v1' || bound.kind !== 'Pod' || !bound.name)
    return 'node requested token not bound to a pod'
  if (!bound.uid) return 'node requested token with a pod binding without a uid'
  const pod = await podOf(parts, namespace, bound.name)
  if (bound.uid !== pod.metadata.uid)
    return `the UID in the bound object reference (${bound.uid}) does not match the UID in record. The object might have been deleted and then recreated`
  if (pod.spec?.nodeName !== node) return 'node requested token bound to a pod scheduled on a different node'
  return tokenAudienceProblem(parts, pod, audiences ?? [], attributes)
}

function checkLease(node: string, { namespace, name }: AdmissionAttributes): string | undefined {
  if (namespace !== leaseNamespace) return `can only access leases in the ${goQuote(leaseNamespace)} system namespace`
  return name === node ? undefined : 'can only access node lease with the same name as the requesting node'
}

function checkCsiNode(node: string, { name }: AdmissionAttributes): string | undefined {
  return name === node ? undefined : 'can only access CSINode with the same name as the requesting node'
}

function checkResourceSlice(node: string, { operation, object, old }: AdmissionAttributes): string | undefined {
  if (operation !== 'CREATE' && operation !== 'DELETE') return undefined
  const slice: SharedObject | undefined = operation === 'CREATE' ? object : old
  const { nodeName } = (slice?.['spec'] ?? {}) as { nodeName?: string | undefined }
  if (nodeName === node) return undefined
  return `can only ${operation.toLowerCase()} ResourceSlice with the same NodeName as the requesting node`
}

/** A kubelet requests certificates for its own node only. The signers check everything else. */
function checkSigningRequest(
  node: string,
  { operation, subresource, object }: AdmissionAttributes,
): string | undefined {
  if (operation !== 'CREATE' || subresource !== '' || !object) return undefined
  const parts = partsOf(object)
  if (!nodeSigners.has(parts.spec.signerName)) return undefined
  let commonName: string
  try {
    commonName = parseCertificateRequest(requestPem(parts)).commonName
  } catch (error) {
    return `unable to parse csr: ${(error as Error).message}`
  }
  return commonName === `system:node:${node}` ? undefined : `can only create a node CSR with CN=system:node:${node}`
}
