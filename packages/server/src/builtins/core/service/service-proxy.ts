import { type ApiResponse, newBadRequest, newNotFound, newServiceUnavailable } from '@kubewright/api'
import type { ObjectAccess } from '../../../registry/object-access.ts'
import type { MutableObject } from '../../../resource/object.ts'
import type { Subresource } from '../../../resource/subresource.ts'
import { splitName } from '../pod/subresources/pod-connections.ts'
import { serviceSpecOf } from './service-types.ts'

type Parts = ObjectAccess

/** The subresource proxy of services. It looks for endpoints and then fails, because the server cannot connect to them. */
export function serviceProxySubresource({ registry, resources }: Parts): Subresource {
  return {
    verbs: [],
    handle: async ({ info }, resource): Promise<ApiResponse> => {
      const split = splitName(info.name)
      if (!split) throw newBadRequest(`invalid service request ${JSON.stringify(info.name)}`)
      if (/^\d+$/.test(split.port)) {
        const service = await registry.find(resource, info.namespace, split.name)
        if (!service) throw newNotFound({ group: '', resource: 'services' }, split.name)
        const ports = serviceSpecOf(service.copy()).ports ?? []
        if (!ports.some(({ port }) => port === Number(split.port))) {
          throw newServiceUnavailable(`no service port ${split.port} found for service ${JSON.stringify(split.name)}`)
        }
      }
      const kind = resources.find('', 'v1', 'endpoints')
      const endpoints = kind && (await registry.find(kind, info.namespace, split.name))
      // As in kube-apiserver: the error names the service, although the endpoints are missing.
      if (!endpoints) throw newNotFound({ group: '', resource: 'services' }, split.name)
      const subsets = ((endpoints.object as MutableObject)['subsets'] ?? []) as unknown[]
      const name = subsets.length === 0 ? split.name : info.name
      throw newServiceUnavailable(`no endpoints available for service ${JSON.stringify(name)}`)
    },
  }
}
