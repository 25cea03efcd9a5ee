import type { KubeObject } from '@kubewright/api'
import { defineTable, nameColumn, textColumn } from '../../../table/columns.ts'
import { type BuiltinDefinition, defineBuiltin } from '../../define-builtin.ts'

interface StorageVersionMigration extends KubeObject {
  readonly spec?:
    | {
        readonly resource?: { readonly group?: string | undefined; readonly resource?: string | undefined } | undefined
      }
    | undefined
  readonly status?:
    | {
        readonly conditions?:
          | readonly { readonly type?: string | undefined; readonly status?: string | undefined }[]
          | undefined
      }
    | undefined
}

const states = ['Running', 'Failed', 'Succeeded']

/** StorageVersionMigrations (pkg/registry/storagemigration/storagemigration). No controller migrates objects yet. */
export const storageVersionMigrations: BuiltinDefinition = defineBuiltin({
  group: 'storagemigration.k8s.io',
  resource: 'storageversionmigrations',
  table: defineTable<StorageVersionMigration>([
    nameColumn,
    textColumn('Resource', 'Resource whose objects are rewritten.', ({ spec }) => {
      const { group = '', resource = '' } = spec?.resource ?? {}
      return group === '' ? resource : `${resource}.${group}`
    }),
    textColumn('Status', 'Whether the migration runs, failed or succeeded.', ({ status }) =>
      (status?.conditions ?? []).reduce(
        (state, condition) =>
          condition.status === 'True' && states.includes(condition.type ?? '') ? (condition.type ?? '') : state,
        'Unknown',
      ),
    ),
  ]),
})
