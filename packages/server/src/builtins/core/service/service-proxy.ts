import { type ApiResponse, newBadRequest, newNotFound, newServiceUnavailable } from '@kubewright/api'
import { goQuote, parseIPSloppy } from '@kubewright/base'
import { type Endpoints, Pod } from '@kubewright/k8s'
import { unverified } from '../../../proxy/backend.ts'
import { KubeletConnections } from '../../../proxy/kubelet-connections.ts'
import { proxyRequest } from '../../../proxy/proxy-request.ts'
import type { Subresource } from '../../../resource/subresource.ts'
import type { BuiltinServer } from '../../define-builtin.ts'
import { splitName } from '../pod/subresources/pod-connections.ts'
import { serviceSpecOf } from './service-types.ts'

/** The subresource proxy of services: requests to a port of a random ready pod of the service. */
export function serviceProxySubresource(server: BuiltinServer): Subresource {
  const { registry, resources, random, nodes, kubelets = new KubeletConnections(server) } = server
  return {
    verbs: [],
    handle: async (context, resource): Promise<ApiResponse> => {
      const { info } = context
      const split = splitName(info.name)
      if (!split) throw newBadRequest(`invalid service request ${goQuote(info.name)}`)
      let portName = split.port
      if (/^\d+$/.test(split.port)) {
        const service = await registry.find(resource, info.namespace, split.name)
        if (!service) throw newNotFound({ group: '', resource: 'services' }, split.name)
        const found = (serviceSpecOf(service.copy()).ports ?? []).find(({ port }) => port === Number(split.port))
        if (!found) {
          throw newServiceUnavailable(`no service port ${split.port} found for service ${goQuote(split.name)}`)
        }
        portName = found.name ?? ''
      }
      const kind = resources.find('', 'v1', 'endpoints')
      const endpoints = kind && (await registry.find(kind, info.namespace, split.name))
      // As in kube-apiserver: the error names the service, although the endpoints are missing.
      if (!endpoints) throw newNotFound({ group: '', resource: 'services' }, split.name)
      const { subsets = [] } = endpoints.object as unknown as Endpoints
      const none = (name: string) => newServiceUnavailable(`no endpoints available for service ${goQuote(name)}`)
      if (subsets.length === 0) throw none(split.name)
      const scheme = split.scheme === 'https' ? 'https' : 'http'
      for (const subset of rotated(subsets, random.int(subsets.length))) {
        const port = (subset.ports ?? []).find((one) => (one.name ?? '') === portName)?.port
        const addresses = subset.addresses ?? []
        if (port === undefined || addresses.length === 0) continue
        for (const address of rotated(addresses, random.int(addresses.length))) {
          const node = await nodeOfPod(server, address)
          if (node === undefined) continue
          const refusal = nodes?.refusesStreams?.(node)
          if (refusal !== undefined) throw newServiceUnavailable(`error trying to reach service: ${refusal}`)
          const backend = { scheme, host: address.ip ?? '', port, tls: unverified } as const
          return proxyRequest(kubelets.outgoing, context, backend)
        }
      }
      throw none(info.name)
    },
  }
}

function rotated<T>(items: readonly T[], by: number): readonly T[] {
  return [...items.slice(by), ...items.slice(0, by)]
}

type Address = NonNullable<NonNullable<NonNullable<Endpoints['subsets']>[number]['addresses']>[number]>

/**
 * The node of the pod behind an address; undefined unless the address is that of an existing pod. Endpoints are written by users too, and
 * must not lead the server to other hosts (pkg/registry/core/service/storage, isValidAddress).
 */
async function nodeOfPod(
  { registry, resources }: BuiltinServer,
  { ip = '', targetRef }: Address,
): Promise<string | undefined> {
  if (!parseIPSloppy(ip)?.isGlobalUnicast() || targetRef?.kind !== Pod.kind) return undefined
  const kind = resources.find('', 'v1', 'pods')
  const found = kind && (await registry.find(kind, targetRef.namespace ?? '', targetRef.name ?? ''))
  const pod = found?.object as unknown as Pod | undefined
  const isOwn = pod?.status?.podIPs?.some((one) => one.ip === ip)
  return isOwn ? (pod?.spec?.nodeName ?? '') : undefined
}
