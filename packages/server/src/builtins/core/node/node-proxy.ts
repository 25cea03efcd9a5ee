import { type ApiResponse, newBadRequest, newNotFound, newServiceUnavailable } from '@kubewright/api'
import type { ObjectAccess } from '../../../registry/object-access.ts'
import type { Subresource } from '../../../resource/subresource.ts'
import { splitName } from '../pod/subresources/pod-connections.ts'

/** The subresource proxy of nodes. It looks the node up and then fails, because the server cannot connect to it. */
export function nodeProxySubresource({ registry }: ObjectAccess): Subresource {
  return {
    verbs: [],
    handle: async ({ info }, resource): Promise<ApiResponse> => {
      const split = splitName(info.name)
      if (!split) throw newBadRequest(`invalid node request ${JSON.stringify(info.name)}`)
      const node = await registry.find(resource, '', split.name)
      if (!node) throw newNotFound({ group: '', resource: 'nodes' }, split.name)
      throw newServiceUnavailable('no preferred addresses found; known addresses: []')
    },
  }
}
