import { type ApiResponse, newBadRequest, newServiceUnavailable } from '@kubewright/api'
import { goQuote, parseIPSloppy } from '@kubewright/base'
import { unverified } from '../../../proxy/backend.ts'
import { KubeletConnections } from '../../../proxy/kubelet-connections.ts'
import { proxyRequest } from '../../../proxy/proxy-request.ts'
import type { Subresource } from '../../../resource/subresource.ts'
import type { BuiltinServer } from '../../define-builtin.ts'
import { splitName } from '../pod/subresources/pod-connections.ts'

/** The subresource proxy of nodes: requests to the kubelet, or to another port of the node. */
export function nodeProxySubresource(server: BuiltinServer): Subresource {
  const { kubelets = new KubeletConnections(server), nodes } = server
  return {
    verbs: [],
    handle: async (context): Promise<ApiResponse> => {
      const { info } = context
      const split = splitName(info.name)
      if (!split) throw newBadRequest(`invalid node request ${goQuote(info.name)}`)
      const refusal = nodes?.refusesStreams?.(split.name)
      if (refusal !== undefined) throw newServiceUnavailable(`error trying to reach service: ${refusal}`)
      const kubelet = await kubelets.locate(split.name, 'nodes')
      // The request must not reach servers that trust this machine. Names are left to the resolver of the system.
      const address = parseIPSloppy(kubelet.host)
      if (address ? !address.isGlobalUnicast() : kubelet.host === 'localhost') {
        throw newBadRequest('address not allowed')
      }
      const isKubelet = split.port === '' || Number(split.port) === kubelet.port
      const scheme = split.scheme === 'https' ? 'https' : 'http'
      const backend = isKubelet
        ? kubelet
        : ({ scheme, host: kubelet.host, port: Number(split.port), tls: unverified } as const)
      return proxyRequest(kubelets.outgoing, context, backend)
    },
  }
}
