import { nameIsDNSSubdomain } from '@kubewright/base'
import type { ControllerRevision } from '@kubewright/k8s'
import { type FieldError, FieldPath, required } from '@kubewright/schema'
import type { MutableObject } from '../../../resource/object.ts'
import { ageColumn, defineTable, type Loose, nameColumn, textColumn } from '../../../table/columns.ts'
import { checkNonNegative } from '../../checks/field-checks.ts'
import { checkImmutable } from '../../checks/strategy-checks.ts'
import { type BuiltinDefinition, defineBuiltin } from '../../define-builtin.ts'

const dataPath = FieldPath.of('data')

/** ControllerRevisions: immutable snapshots of pod templates (pkg/registry/apps/controllerrevision). */
export const controllerRevisions: BuiltinDefinition = defineBuiltin({
  group: 'apps',
  resource: 'controllerrevisions',
  table: defineTable<ControllerRevision>([
    nameColumn,
    textColumn('Controller', 'Controller that owns the revision.', controllerText),
    textColumn('Revision', 'Number of the revision.', ({ revision }) => revision ?? 0),
    ageColumn,
  ]),
  strategy: {
    validateName: nameIsDNSSubdomain,
    validate: (object) => {
      const errors = validateRevision(object)
      const data = object['data']
      if (data === undefined || data === null) errors.push(required(dataPath, 'data is mandatory'))
      else if (typeof data !== 'object' || Array.isArray(data)) {
        errors.push(required(dataPath, 'data must be a valid JSON object'))
      }
      return errors
    },
    validateUpdate: (object, old) => {
      const errors = validateRevision(object)
      checkImmutable(errors, dataPath, object['data'], old['data'])
      return errors
    },
  },
})

function validateRevision(object: MutableObject): FieldError[] {
  const errors: FieldError[] = []
  checkNonNegative(errors, FieldPath.of('revision'), object['revision'] as number | undefined)
  return errors
}

/** The controller as kind, group and name: `statefulset.apps/web`. */
function controllerText({ metadata }: Loose<ControllerRevision>): string {
  const owner = metadata?.ownerReferences?.find(({ controller }) => controller)
  if (!owner) return '<none>'
  const [group, version] = (owner.apiVersion ?? '').split('/')
  const kind = (owner.kind ?? '').toLowerCase()
  return `${version === undefined ? kind : `${kind}.${group?.toLowerCase()}`}/${owner.name ?? ''}`
}
