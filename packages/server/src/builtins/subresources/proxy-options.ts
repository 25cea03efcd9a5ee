import type { ConnectOptions } from '../../admission/connect-admission.ts'

/** The options of the proxy subresource of pods, services or nodes, such as PodProxyOptions. */
export function proxyOptions(kind: 'Pod' | 'Service' | 'Node'): ConnectOptions {
  return { kind: `${kind}ProxyOptions`, fields: {}, path: true }
}
