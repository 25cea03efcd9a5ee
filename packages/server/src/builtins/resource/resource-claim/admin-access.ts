import type * as resource from '@kubewright/k8s/resource/v1'
import { type FieldError, type FieldPath, forbidden } from '@kubewright/schema'
import type { ObjectAccess } from '../../../registry/object-access.ts'
import { ObjectLookup } from '../../../registry/object-lookup.ts'
import { specPath, statusPath } from '../../checks/strategy-checks.ts'
import type { Unchecked } from '../../typed/unchecked.ts'
import type { DeviceClaim } from './validate-device-claim.ts'

type Allocation = Unchecked<resource.AllocationResult>

const label = 'resource.kubernetes.io/admin-access'

/** Reports whether the label of a namespace permits claims with access to devices that are in use by others. */
export type AllowsAdminAccess = (namespace: string) => Promise<boolean>

/** {@link AllowsAdminAccess} for the namespaces of a server. */
export function namespaceLabels(access: ObjectAccess): AllowsAdminAccess {
  const lookup = new ObjectLookup(access)
  return async (namespace) =>
    (await lookup.live(['', 'v1', 'namespaces'], '', namespace))?.metadata.labels?.[label] === 'true'
}

/** Checks the requests of a new claim or template. The path lacks `exactly`, and `spec.spec` of templates, as in kube-apiserver. */
export async function checkAdminRequests(
  { requests = [] }: DeviceClaim,
  namespace: string,
  allows: AllowsAdminAccess | undefined,
): Promise<FieldError[]> {
  const index = requests.findIndex(({ exactly }) => exactly?.adminAccess)
  return index < 0 ? [] : check(specPath.child('devices', 'requests').index(index), namespace, allows)
}

/** Checks a new allocation. One that was granted before is immutable and not checked again. */
export async function checkAdminResults(
  next: Allocation | undefined,
  old: Allocation | undefined,
  namespace: string,
  allows: AllowsAdminAccess | undefined,
): Promise<FieldError[]> {
  if (old?.devices?.results?.some(({ adminAccess }) => adminAccess)) return []
  const index = (next?.devices?.results ?? []).findIndex(({ adminAccess }) => adminAccess)
  return index < 0 ? [] : check(statusPath.child('allocation', 'devices', 'results').index(index), namespace, allows)
}

async function check(item: FieldPath, namespace: string, allows: AllowsAdminAccess | undefined): Promise<FieldError[]> {
  if (!allows || (await allows(namespace))) return []
  const text = `admin access to devices requires the \`${label}: true\` label on the containing namespace`
  return [forbidden(item.child('adminAccess'), text)]
}
