import { formatRFC3339, instantFromMillis } from '@kubewright/base'
import type { ResourceTable } from '../resource/resource-table.ts'
import type { SystemWriter } from '../verbs/write/system-writer.ts'

const name = 'kubernetes'
const manager = 'kubernetes-service-cidr-controller'

/**
 * Creates the ServiceCIDR of the range from which Services get their addresses. An existing one stays as it is
 * (pkg/controlplane/controller/defaultservicecidr).
 */
export async function ensureServiceCidr(
  { writer, resources }: { readonly writer: SystemWriter; readonly resources: ResourceTable },
  range: string,
  now: number,
): Promise<void> {
  const resource = resources.find('networking.k8s.io', 'v1', 'servicecidrs')
  if (!resource) return
  const wanted = {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'ServiceCIDR',
    metadata: { name },
    spec: { cidrs: [range] },
  }
  if (!(await writer.ensure('servicecidrs', wanted))) return
  const condition = {
    type: 'Ready',
    status: 'True',
    message: 'Kubernetes default Service CIDR is ready',
    lastTransitionTime: formatRFC3339(instantFromMillis(now)),
  }
  await writer.apply(
    { resource, subresource: 'status', name },
    () => ({ status: { conditions: [condition] } }),
    manager,
  )
}
