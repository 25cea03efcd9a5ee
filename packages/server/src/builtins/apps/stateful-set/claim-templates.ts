import type * as apps from '@kubewright/k8s/apps/v1'
import type { FieldPath } from '@kubewright/schema'
import { specPath } from '../../checks/strategy-checks.ts'
import type { ResourceList } from '../../core/pod/pod-types.ts'
import { defaultResourceList, quantityOf } from '../../core/pod/resources/resource-list.ts'
import type { Unchecked } from '../../typed/unchecked.ts'

/** The claims that a StatefulSet creates for each pod. */
export type ClaimTemplates = NonNullable<Unchecked<apps.StatefulSetSpec>['volumeClaimTemplates']>

/** Fills the defaults of claim templates. Unlike other embedded objects, they have a kind and an apiVersion. */
export function defaultClaimTemplates(claims: ClaimTemplates): void {
  for (const claim of claims) {
    claim.kind = 'PersistentVolumeClaim'
    claim.apiVersion = 'v1'
    const status = (claim.status ??= {})
    status.phase ||= 'Pending'
    const spec = (claim.spec ??= {})
    spec.volumeMode ??= 'Filesystem'
    for (const list of [spec.resources?.limits, spec.resources?.requests, status.capacity, status.allocatedResources]) {
      defaultResourceList(list as ResourceList | undefined)
    }
  }
}

/** Warns about storage sizes that are not a whole number of bytes. `below` maps the path of a template to the path to report. */
export function claimTemplateWarnings(claims: ClaimTemplates = [], below: (path: FieldPath) => FieldPath): string[] {
  const warnings: string[] = []
  for (const [i, { spec }] of claims.entries()) {
    const path = below(specPath.child('volumeClaimTemplates').index(i)).child('resources')
    for (const list of ['requests', 'limits'] as const) {
      const amount = quantityOf((spec?.resources?.[list] as ResourceList | undefined)?.['storage'])
      if (amount.milliValue() % 1000n === 0n) continue
      const at = path.child(list).key('storage')
      warnings.push(`${at}: fractional byte value "${amount}" is invalid, must be an integer`)
    }
  }
  return warnings
}
