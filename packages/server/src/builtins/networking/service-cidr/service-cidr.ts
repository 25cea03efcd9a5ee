import { append, nameIsDNSSubdomain, parseCIDRSloppy } from '@kubewright/base'
import type { ServiceCIDR } from '@kubewright/k8s'
import type * as networking from '@kubewright/k8s/networking/v1'
import { type FieldError, invalid, required } from '@kubewright/schema'
import { withStatus } from '../../../resource/status-strategy.ts'
import { ageColumn, defineTable, nameColumn, textColumn } from '../../../table/columns.ts'
import { addInvalid } from '../../checks/field-checks.ts'
import { cidrProblems } from '../../checks/ip-checks.ts'
import { resetForStatus } from '../../checks/reset-for-status.ts'
import { immutableText, part, specPath, structValue } from '../../checks/strategy-checks.ts'
import { type BuiltinDefinition, defineBuiltin } from '../../define-builtin.ts'
import type { Unchecked } from '../../typed/unchecked.ts'

type Spec = Unchecked<networking.ServiceCIDRSpec>

const cidrsPath = specPath.child('cidrs')

/** ServiceCIDRs, the ranges of cluster IPs (pkg/registry/networking/servicecidr). */
export const serviceCidrs: BuiltinDefinition = defineBuiltin({
  group: 'networking.k8s.io',
  resource: 'servicecidrs',
  table: defineTable<ServiceCIDR>([
    nameColumn,
    textColumn('CIDRs', 'Address ranges of cluster IPs.', ({ spec }) => (spec?.cidrs ?? []).join(',')),
    ageColumn,
  ]),
  ...withStatus(
    {
      validateName: nameIsDNSSubdomain,
      metadataOnUpdate: ['update'],
      validate: (object) => validateRanges(part<Spec>(object, 'spec').cidrs ?? []),
      validateUpdate: (object, old) => {
        const errors: FieldError[] = []
        const [cidrs, before] = [part<Spec>(object, 'spec').cidrs ?? [], part<Spec>(old, 'spec').cidrs ?? []]
        const growing = before.length === 1 && cidrs.length === 2
        if (cidrs.length !== before.length && !growing) errors.push(invalid(cidrsPath, cidrs, immutableText))
        else {
          for (const [i, cidr] of before.entries()) {
            if (cidrs[i] !== cidr) errors.push(invalid(cidrsPath.index(i), cidrs[i], immutableText))
          }
          if (growing) append(errors, validateRanges(cidrs))
        }
        return errors
      },
    },
    { prepareForUpdate: resetForStatus },
  ),
})

function validateRanges(cidrs: readonly string[]): FieldError[] {
  const errors: FieldError[] = []
  if (cidrs.length === 0) return [required(cidrsPath, 'at least one CIDR required')]
  if (cidrs.length > 2) return [invalid(cidrsPath, structValue({ CIDRs: cidrs }), 'may only hold up to 2 values')]
  for (const [i, cidr] of cidrs.entries()) addInvalid(errors, cidrsPath.index(i), cidr, cidrProblems(cidr))
  const [first, second] = cidrs.map((cidr) => parseCIDRSloppy(cidr)?.address.family)
  if (cidrs.length === 2 && first !== undefined && first === second) {
    const text = 'may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64'
    errors.push(invalid(cidrsPath, cidrs, text))
  }
  return errors
}
