import type { NodeConnector } from '@kubewright/api'
import { kindFor } from '@kubewright/k8s/all'
import { type ConnectOptions, withConnectAdmission } from '../../admission/connect-admission.ts'
import type { BuiltinParts } from '../builtin-parts.ts'
import type { BuiltinResource, BuiltinTable } from '../builtin-resources.ts'
import { actionSubresource, success } from '../subresources/action-subresource.ts'
import { bindPod, checkBinding } from './pod/subresources/bind-pod.ts'
import { evictPod } from './pod/subresources/evict-pod.ts'
import { logSubresource, podProxySubresource, streamSubresource } from './pod/subresources/pod-connections.ts'
import { services } from './service/service.ts'
import type { ServiceRanges } from './service/service-allocator.ts'
import { nodeProxySubresource, serviceProxySubresource } from './service/service-proxy.ts'
import { serviceTable } from './service/service-table.ts'

const attachFields = {
  stdin: 'boolean',
  stdout: 'boolean',
  stderr: 'boolean',
  tty: 'boolean',
  container: 'string',
} as const
const attachOptions: ConnectOptions = { kind: 'PodAttachOptions', fields: attachFields }
const execOptions: ConnectOptions = { kind: 'PodExecOptions', fields: { ...attachFields, command: 'strings' } }
const portForwardOptions: ConnectOptions = { kind: 'PodPortForwardOptions', fields: { ports: 'integers' } }
const proxyOptions = (of: string): ConnectOptions => ({ kind: `${of}ProxyOptions`, fields: {}, path: true })

/** What the core group needs to know of the cluster. */
export interface CoreServerOptions {
  readonly ranges?: ServiceRanges | undefined
  readonly nodes?: NodeConnector | undefined
}

/**
 * The rest of the core group: services, whose addresses the server hands out, and the subresources that act on other objects. To be
 * merged over the definitions while the server is set up.
 */
export function coreServerResources(parts: BuiltinParts, options: CoreServerOptions = {}): BuiltinTable {
  const { ranges, nodes } = options
  const binding = kindFor({ group: '', version: 'v1', kind: 'Binding' })
  const eviction = kindFor({ group: 'policy', version: 'v1', kind: 'Eviction' })
  if (!binding || !eviction) throw new Error('Binding and Eviction are no built-in kinds')
  const service = services(parts, ranges)
  return {
    '/pods': {
      subresources: {
        binding: actionSubresource(parts, 'binding', binding, async ({ body, resource, dryRun, admit }) => {
          checkBinding(body)
          await admit()
          await bindPod(parts, resource, body, dryRun)
        }),
        eviction: actionSubresource(parts, 'eviction', eviction, (action) => evictPod(parts, action)),
        log: logSubresource(parts, nodes),
        exec: withConnectAdmission(parts.admission, 'exec', execOptions, streamSubresource(parts, true)),
        attach: withConnectAdmission(parts.admission, 'attach', attachOptions, streamSubresource(parts, true)),
        portforward: withConnectAdmission(
          parts.admission,
          'portforward',
          portForwardOptions,
          streamSubresource(parts, false),
        ),
        proxy: withConnectAdmission(parts.admission, 'proxy', proxyOptions('Pod'), podProxySubresource(parts)),
      },
    },
    '/bindings': legacyBindings(parts),
    '/services': {
      table: serviceTable,
      ...service,
      subresources: {
        ...service.subresources,
        proxy: withConnectAdmission(parts.admission, 'proxy', proxyOptions('Service'), serviceProxySubresource(parts)),
      },
    },
    '/nodes': {
      subresources: {
        proxy: withConnectAdmission(parts.admission, 'proxy', proxyOptions('Node'), nodeProxySubresource(parts)),
      },
    },
  }
}

/** Bindings as a collection of their own: the name says which pod. */
function legacyBindings(parts: BuiltinParts): BuiltinResource {
  return {
    virtual: async (context, binding, admit) => {
      checkBinding(binding)
      await admit()
      const resource = parts.resources.find('', 'v1', 'pods')
      if (resource) await bindPod(parts, resource, binding, context.request.query.getAll('dryRun').length > 0)
      // The answer is a Status, which has the shape of an object as far as anybody looks at it.
      return success as never
    },
  }
}
