import type { MutableObject } from '../resource/object.ts'
import type { SystemWriter } from '../verbs/write/system-writer.ts'

const name = 'kubernetes'
const namespace = 'default'

/** The address of the server. */
export interface ServerAddress {
  readonly address: string
  readonly port: number
}

/** Creates the service through which pods reach the API server. The endpoints follow when the server listens. */
export async function ensureKubernetesService(
  writer: SystemWriter,
  targetPort: number,
  clusterIp: string,
): Promise<void> {
  const service: MutableObject = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace, labels: { component: 'apiserver', provider: 'kubernetes' } },
    spec: {
      ports: [{ name: 'https', protocol: 'TCP', port: 443, targetPort }],
      clusterIP: clusterIp,
      clusterIPs: [clusterIp],
      type: 'ClusterIP',
      sessionAffinity: 'None',
      ipFamilies: ['IPv4'],
      ipFamilyPolicy: 'SingleStack',
      internalTrafficPolicy: 'Cluster',
    },
    status: { loadBalancer: {} },
  }
  await writer.ensure('services', service)
}

/** Sets the endpoints of the service to the address of the server. */
export async function publishServerAddress(writer: SystemWriter, { address, port }: ServerAddress): Promise<void> {
  const metadata = {
    name,
    namespace,
    labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' },
  }
  await writer.put(
    'endpoints',
    {
      apiVersion: 'v1',
      kind: 'Endpoints',
      metadata,
      subsets: [{ addresses: [{ ip: address }], ports: [{ name: 'https', port, protocol: 'TCP' }] }],
    },
    ['subsets'],
  )
  await writer.put(
    'endpointslices',
    {
      apiVersion: 'discovery.k8s.io/v1',
      kind: 'EndpointSlice',
      metadata: { name, namespace, labels: { 'kubernetes.io/service-name': name } },
      addressType: address.includes(':') ? 'IPv6' : 'IPv4',
      endpoints: [{ addresses: [address], conditions: { ready: true } }],
      ports: [{ name: 'https', port, protocol: 'TCP' }],
    },
    ['endpoints', 'ports'],
  )
}
