import { isDNS1123Subdomain, isPathSegmentName } from '@kubewright/base'
import type { IPAddress } from '@kubewright/k8s'
import type * as networking from '@kubewright/k8s/networking/v1'
import { type FieldError, required } from '@kubewright/schema'
import type { MutableObject } from '../../../resource/object.ts'
import { ageColumn, defineTable, type Loose, nameColumn, textColumn } from '../../../table/columns.ts'
import { addInvalid } from '../../checks/field-checks.ts'
import { ipProblems } from '../../checks/ip-checks.ts'
import { checkImmutable, part, specPath, structValue } from '../../checks/strategy-checks.ts'
import { type BuiltinDefinition, defineBuiltin } from '../../define-builtin.ts'
import type { Unchecked } from '../../typed/unchecked.ts'

type Spec = Unchecked<networking.IPAddressSpec>

const referencePath = specPath.child('parentRef')

/** IPAddresses, which record the use of an address of a ServiceCIDR (pkg/registry/networking/ipaddress). */
export const ipAddresses: BuiltinDefinition = defineBuiltin({
  group: 'networking.k8s.io',
  resource: 'ipaddresses',
  table: defineTable<IPAddress>([
    nameColumn,
    textColumn('ParentRef', 'Object that uses the address.', ({ spec }) => parentText(spec?.parentRef)),
    // As in kube-apiserver, rows have an age although the table has no column for it.
    { definitions: [], cells: ageColumn.cells },
  ]),
  strategy: {
    validateName: ipProblems,
    namesWithoutSuffix: true,
    metadataOnUpdate: ['create', 'update'],
    validate: validateAddress,
    validateUpdate: (object, old) => {
      const errors = validateAddress(object)
      const { parentRef } = part<Spec>(object, 'spec')
      const shown = parentRef
        ? structValue({
            Group: parentRef.group ?? '',
            Resource: parentRef.resource ?? '',
            Namespace: parentRef.namespace ?? '',
            Name: parentRef.name ?? '',
          })
        : null
      checkImmutable(errors, referencePath, parentRef, part<Spec>(old, 'spec').parentRef, shown)
      return errors
    },
  },
})

function validateAddress(object: MutableObject): FieldError[] {
  const errors: FieldError[] = []
  const { parentRef } = part<Spec>(object, 'spec')
  if (!parentRef) {
    errors.push(required(referencePath))
    return errors
  }
  const { group, namespace } = parentRef
  if (group) addInvalid(errors, referencePath.child('group'), group, isDNS1123Subdomain(group))
  for (const field of ['resource', 'name'] as const) {
    const value = parentRef[field]
    if (!value) errors.push(required(referencePath.child(field)))
    else addInvalid(errors, referencePath.child(field), value, isPathSegmentName(value, false))
  }
  if (namespace) addInvalid(errors, referencePath.child('namespace'), namespace, isPathSegmentName(namespace, false))
  return errors
}

function parentText(parent: Loose<IPAddress['spec']['parentRef']> | null | undefined): string {
  if (!parent) return '<none>'
  const { group, resource, namespace, name } = parent
  const type = `${resource ?? ''}${group ? `.${group}` : ''}`.toLowerCase()
  return `${type}${namespace ? `/${namespace}` : ''}/${name ?? ''}`
}
