import type { FieldPath } from '@kubewright/schema'
import { defaultResourceList, quantityOf } from '../pod/resources/resource-list.ts'
import type { ClaimSpec } from './validate-claim-spec.ts'

/** Fills the defaults of the spec of a claim or a claim template. */
export function defaultClaimSpec(spec: ClaimSpec): void {
  spec.volumeMode ??= 'Filesystem'
  defaultResourceList(spec.resources?.limits)
  defaultResourceList(spec.resources?.requests)
}

/** The warnings about the spec of a claim or a claim template. */
export function claimSpecWarnings({ resources }: ClaimSpec, path: FieldPath): string[] {
  return (['requests', 'limits'] as const).flatMap((list) => {
    const amount = quantityOf(resources?.[list]?.['storage'])
    if (amount.milliValue() % 1000n === 0n) return []
    const at = path.child('resources', list).key('storage')
    return [`${at}: fractional byte value "${amount}" is invalid, must be an integer`]
  })
}
