import { newNotFound } from '@kubewright/api'
import type { Node } from '@kubewright/k8s'
import { type Outgoing, type OutgoingTls, systemOutgoing } from '../outgoing/outgoing.ts'
import type { ObjectAccess } from '../registry/object-access.ts'
import { unclassifiedError } from '../request/unclassified-error.ts'
import type { Backend } from './backend.ts'

/** The types of node addresses. */
export const nodeAddressTypes = ['Hostname', 'InternalDNS', 'InternalIP', 'ExternalDNS', 'ExternalIP'] as const

/** A type of node addresses. */
export type NodeAddressType = (typeof nodeAddressTypes)[number]

/** How the server connects to kubelets. */
export interface KubeletOptions {
  /** PEM of the CAs that sign the serving certificates of kubelets. @default the certificates are not verified, as in kube-apiserver */
  readonly ca?: string | undefined
  /** Returns the client certificate for kubelets, as PEM. @default none: kubelets treat the server as anonymous */
  readonly client?: (() => { readonly cert: string; readonly key: string }) | undefined
  /** The order in which the addresses of a node are tried. @default Hostname, InternalDNS, InternalIP, ExternalDNS, ExternalIP */
  readonly preferredAddressTypes?: readonly NodeAddressType[] | undefined
  /** Sends the requests to kubelets, pods and services. @default over real connections */
  readonly outgoing?: Outgoing | undefined
}

const defaultPort = 10_250

/** Finds the kubelets of nodes (pkg/kubelet/client/kubelet_client.go). */
export class KubeletConnections {
  readonly outgoing: Outgoing
  readonly #options: KubeletOptions
  readonly #objects: ObjectAccess

  constructor(objects: ObjectAccess, options: KubeletOptions = {}) {
    this.outgoing = options.outgoing ?? systemOutgoing
    this.#options = options
    this.#objects = objects
  }

  /**
   * The kubelet of a node. Throws when the node or its address is missing. A missing node is reported as an object of `resource`, the
   * requested resource, as in kube-apiserver.
   */
  async locate(name: string, resource: string, verify = true): Promise<Backend & { readonly port: number }> {
    const { registry, resources } = this.#objects
    const nodes = resources.find('', 'v1', 'nodes')
    const found = nodes && (await registry.find(nodes, '', name))
    if (!found) throw newNotFound({ group: '', resource }, name)
    const { status } = found.object as unknown as Node
    const addresses = status?.addresses ?? []
    const { preferredAddressTypes = nodeAddressTypes } = this.#options
    const host = preferredAddressTypes.flatMap((type) => addresses.filter((one) => one.type === type))[0]?.address
    if (!host) throw unclassifiedError(`no preferred addresses found; known addresses: ${listOf(addresses)}`)
    const port = status?.daemonEndpoints?.kubeletEndpoint?.Port || defaultPort
    return { scheme: 'https', host, port, tls: this.#tls(verify) }
  }

  #tls(verify: boolean): OutgoingTls {
    const { ca, client } = this.#options
    return { ...(verify && ca !== undefined ? { ca } : { insecure: true }), ...client?.() }
  }
}

/** The addresses as Go prints a slice of structs. */
function listOf(
  addresses: readonly { readonly type?: string | undefined; readonly address?: string | undefined }[],
): string {
  return `[${addresses.map(({ type, address }) => `{${type} ${address}}`).join(' ')}]`
}
