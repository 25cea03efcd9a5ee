import { newBadRequest } from '@kubewright/api'
import { type ConnectOptions, withConnectAdmission } from '../../../../admission/connect-admission.ts'
import { KubeletConnections } from '../../../../proxy/kubelet-connections.ts'
import type { Subresource } from '../../../../resource/subresource.ts'
import type { BuiltinServer } from '../../../define-builtin.ts'
import { type PostedObject, postSubresource } from '../../../subresources/post-subresource.ts'
import { proxyOptions } from '../../../subresources/proxy-options.ts'
import { successStatus } from '../../../subresources/success-status.ts'
import { bindPod, checkBinding } from './bind-pod.ts'
import { evictPod } from './evict-pod.ts'
import { logSubresource, podProxySubresource, streamSubresource } from './pod-connections.ts'

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

/** The subresources of pods that act on the pod instead of showing it. */
export function podSubresources(server: BuiltinServer): Readonly<Record<string, Subresource>> {
  const { admission } = server
  const connections = { ...server, kubelets: server.kubelets ?? new KubeletConnections(server) }
  const action = (
    name: string,
    kind: { readonly group: string; readonly kind: string },
    act: (posted: PostedObject) => Promise<void>,
  ): Subresource =>
    postSubresource(server, { name, kind: { ...kind, version: 'v1' } }, async (posted) => {
      if (posted.object.metadata.name !== posted.context.info.name) {
        throw newBadRequest(`name in URL does not match name in ${kind.kind} object`)
      }
      await act(posted)
      return successStatus
    })
  return {
    binding: action('binding', { group: '', kind: 'Binding' }, async ({ object, resource, dryRun, admit }) => {
      checkBinding(object)
      await admit()
      await bindPod(server, resource, object, dryRun)
    }),
    eviction: action('eviction', { group: 'policy', kind: 'Eviction' }, (posted) => evictPod(server, posted)),
    log: logSubresource(connections),
    exec: withConnectAdmission(admission, 'exec', execOptions, streamSubresource(connections, 'exec')),
    attach: withConnectAdmission(admission, 'attach', attachOptions, streamSubresource(connections, 'attach')),
    portforward: withConnectAdmission(
      admission,
      'portforward',
      portForwardOptions,
      streamSubresource(connections, 'portForward'),
    ),
    proxy: withConnectAdmission(admission, 'proxy', proxyOptions('Pod'), podProxySubresource(connections)),
  }
}
