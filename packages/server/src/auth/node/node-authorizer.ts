import { goQuote } from '@kubewright/base'
import type { UserInfo } from '../../request/user-info.ts'
import type { AuthorizationAttributes, Authorizer, Decision, ResolvedRules } from '../authorizer.ts'
import { type PolicyRule, ruleAllows } from '../rbac/policy-rule.ts'
import type { NodeGraph, RelatedResource } from './node-graph.ts'
import { nodeNameOf } from './node-identity.ts'

const leaseNamespace = 'kube-node-lease'

/** The rules of the cluster role system:node for resources that are not subdivided by node. */
const sharedRules: readonly PolicyRule[] = [
  { verbs: ['create'], apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'] },
  {
    verbs: ['create'],
    apiGroups: ['authorization.k8s.io'],
    resources: ['subjectaccessreviews', 'localsubjectaccessreviews'],
  },
  { verbs: ['get', 'list', 'watch'], apiGroups: [''], resources: ['services'] },
  { verbs: ['create', 'update', 'patch'], apiGroups: ['', 'events.k8s.io'], resources: ['events'] },
  { verbs: ['get'], apiGroups: [''], resources: ['endpoints'] },
  {
    verbs: ['create', 'get', 'list', 'watch'],
    apiGroups: ['certificates.k8s.io'],
    resources: ['certificatesigningrequests'],
  },
  { verbs: ['get', 'list', 'watch'], apiGroups: ['storage.k8s.io'], resources: ['csidrivers'] },
  { verbs: ['get', 'list', 'watch'], apiGroups: ['node.k8s.io'], resources: ['runtimeclasses'] },
]

const allowed: Decision = { allowed: true, reason: '' }
const noOpinion: Decision = { allowed: false, reason: '' }
const denied = (reason: string): Decision => ({ allowed: false, reason })

/** Decides about one request of the kubelet of a node. */
type NodeRule = (node: string, attributes: AuthorizationAttributes) => Decision

/**
 * Authorizes kubelets for the objects that their node needs (plugin/pkg/auth/authorizer/node/node_authorizer.go). Has no opinion about
 * other users. Allows kubelets nothing before a graph is attached.
 */
export class NodeAuthorizer implements Authorizer {
  #graph: NodeGraph | undefined
  readonly #rules: ReadonlyMap<string, NodeRule>

  constructor() {
    const relatedOnly =
      (resource: RelatedResource): NodeRule =>
      (node, attributes) =>
        this.#get(node, resource, attributes)
    this.#rules = new Map<string, NodeRule>([
      ['/secrets', (node, attributes) => this.#read(node, 'secrets', attributes)],
      ['/configmaps', (node, attributes) => this.#read(node, 'configmaps', attributes)],
      ['/persistentvolumeclaims', (node, attributes) => this.#claim(node, attributes)],
      ['/persistentvolumes', relatedOnly('persistentvolumes')],
      ['resource.k8s.io/resourceclaims', relatedOnly('resourceclaims')],
      ['storage.k8s.io/volumeattachments', relatedOnly('volumeattachments')],
      ['/serviceaccounts', (node, attributes) => this.#serviceAccount(node, attributes)],
      ['coordination.k8s.io/leases', leaseRule],
      ['storage.k8s.io/csinodes', csiNodeRule],
      ['resource.k8s.io/resourceslices', (node, attributes) => this.#resourceSlice(node, attributes)],
      ['/nodes', nodeRule],
      ['/pods', (node, attributes) => this.#pod(node, attributes)],
      // The feature PodCertificateRequest is off by default.
      ['certificates.k8s.io/podcertificaterequests', () => noOpinion],
    ])
  }

  /** Sets the graph. */
  attach(graph: NodeGraph): void {
    this.#graph = graph
  }

  authorize(attributes: AuthorizationAttributes): Decision {
    const { user } = attributes
    const node = nodeNameOf(user)
    if (node === undefined) return noOpinion
    if (node === '') return denied(`unknown node for user ${goQuote(user.name)}`)
    const rule = attributes.isResource ? this.#rules.get(`${attributes.group}/${attributes.resource}`) : undefined
    if (rule) return rule(node, attributes)
    return sharedRules.some((shared) => ruleAllows(shared, attributes)) ? allowed : noOpinion
  }

  async rulesFor(user: UserInfo): Promise<ResolvedRules> {
    const isNode = nodeNameOf(user) !== undefined
    return {
      resourceRules: [],
      nonResourceRules: [],
      incomplete: isNode,
      evaluationError: isNode ? 'node authorizer does not support user rule resolution' : '',
    }
  }

  #related(node: string, resource: RelatedResource, { namespace, name }: AuthorizationAttributes): Decision {
    if (name === '') return denied('No Object name found')
    return this.#relates(node, resource, namespace, name)
  }

  #relates(node: string, resource: RelatedResource, namespace: string, name: string): Decision {
    if (this.#graph?.relates(node, resource, namespace, name)) return allowed
    return denied(`no relationship found between node '${node}' and this object`)
  }

  /** Allows reads of single objects. */
  #read(node: string, resource: RelatedResource, attributes: AuthorizationAttributes): Decision {
    const { verb, subresource, namespace } = attributes
    if (verb !== 'get' && verb !== 'list' && verb !== 'watch') return denied('can only read resources of this type')
    if (subresource !== '') return denied('cannot read subresource')
    if (namespace === '') return denied('can only read namespaced object of this type')
    return this.#related(node, resource, attributes)
  }

  #get(node: string, resource: RelatedResource, attributes: AuthorizationAttributes): Decision {
    if (attributes.verb !== 'get') return denied('can only get individual resources of this type')
    if (attributes.subresource !== '') return denied('cannot get subresource')
    return this.#related(node, resource, attributes)
  }

  #claim(node: string, attributes: AuthorizationAttributes): Decision {
    const { verb, subresource } = attributes
    if (subresource !== 'status') return this.#get(node, 'persistentvolumeclaims', attributes)
    if (verb !== 'update' && verb !== 'patch') return denied('can only get/update/patch this type')
    return this.#related(node, 'persistentvolumeclaims', attributes)
  }

  #serviceAccount(node: string, attributes: AuthorizationAttributes): Decision {
    const { verb, subresource, namespace, name } = attributes
    if (verb === 'get' && subresource === '') return this.#read(node, 'serviceaccounts', attributes)
    if (verb !== 'create' || name === '') return denied('can only create tokens for individual service accounts')
    if (subresource !== 'token') return denied('can only create token subresource of serviceaccount')
    return this.#relates(node, 'serviceaccounts', namespace, name)
  }

  #resourceSlice(node: string, attributes: AuthorizationAttributes): Decision {
    const { verb, subresource, selectedValue } = attributes
    if (subresource !== '') return denied('cannot authorize ResourceSlice subresources')
    switch (verb) {
      // NodeRestriction checks the node name of the new object.
      case 'create':
        return allowed
      case 'get':
      case 'update':
      case 'patch':
      case 'delete':
        return this.#related(node, 'resourceslices', attributes)
      case 'watch':
      case 'list':
      case 'deletecollection':
        if (selectedValue?.('spec.nodeName') === node) return allowed
        return denied('can only list/watch/deletecollection resourceslices with nodeName field selector')
      default:
        return denied(
          'only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, delete, deletecollection',
        )
    }
  }

  /** NodeRestriction limits the writes that this allows to the pods of the node. */
  #pod(node: string, attributes: AuthorizationAttributes): Decision {
    const { verb, subresource, name, selectedValue } = attributes
    switch (`${verb} ${subresource}`) {
      case 'get ':
        return this.#get(node, 'pods', attributes)
      case 'list ':
      case 'watch ':
        if (selectedValue?.('spec.nodeName') === node) return allowed
        if (name !== '') return this.#related(node, 'pods', attributes)
        return denied('can only list/watch pods with spec.nodeName field selector')
      case 'create ':
      case 'delete ':
      case 'update status':
      case 'patch status':
      case 'create eviction':
        return allowed
      default:
        return noOpinion
    }
  }
}

const ownVerbs: ReadonlySet<string> = new Set(['get', 'create', 'update', 'patch', 'delete'])

/** NodeRestriction checks the name of a new lease. */
function leaseRule(node: string, { verb, namespace, name }: AuthorizationAttributes): Decision {
  if (!ownVerbs.has(verb)) return denied('can only get, create, update, patch, or delete a node lease')
  if (namespace !== leaseNamespace)
    return denied(`can only access leases in the ${goQuote(leaseNamespace)} system namespace`)
  if (verb === 'create' || name === node) return allowed
  return denied('can only access node lease with the same name as the requesting node')
}

/** NodeRestriction checks the name of a new CSINode. */
function csiNodeRule(node: string, { verb, subresource, name }: AuthorizationAttributes): Decision {
  if (!ownVerbs.has(verb)) return denied('can only get, create, update, patch, or delete a CSINode')
  if (subresource !== '') return denied('cannot authorize CSINode subresources')
  if (verb === 'create' || name === node) return allowed
  return denied('can only access CSINode with the same name as the requesting node')
}

/** Reads compare names, so that a kubelet can look for its Node before it exists. NodeRestriction limits writes to the own Node. */
function nodeRule(node: string, { verb, subresource, name }: AuthorizationAttributes): Decision {
  switch (`${verb} ${subresource}`) {
    case 'create ':
    case 'update ':
    case 'patch ':
    case 'update status':
    case 'patch status':
      return allowed
    case 'get ':
    case 'list ':
    case 'watch ':
      if (name === node) return allowed
      if (name === '') return denied(`node '${node}' cannot read all nodes, only its own Node object`)
      return denied(`node '${node}' cannot read '${name}', only its own Node object`)
    default:
      return noOpinion
  }
}
