import { ApiError, FieldSet, fieldSetPath } from '@kubewright/api'
import { isQualifiedName, nameIsDNSLabel } from '@kubewright/base'
import type { Namespace } from '@kubewright/k8s'
import { type FieldError, FieldPath, invalid } from '@kubewright/schema'
import type { StoreFeed } from '../../../cache/store-feed.ts'
import type { MutableObject } from '../../../resource/object.ts'
import { carryOver, withStatus } from '../../../resource/status-strategy.ts'
import type { Strategy } from '../../../resource/strategy.ts'
import { ageColumn, defineTable, nameColumn, textColumn } from '../../../table/columns.ts'
import { addInvalid } from '../../checks/field-checks.ts'
import { type BuiltinDefinition, defineBuiltin } from '../../define-builtin.ts'

interface Spec {
  finalizers?: string[] | undefined
}
interface Status {
  phase?: string | undefined
}

const finalizersPath = FieldPath.of('spec', 'finalizers')
const nameLabel = 'kubernetes.io/metadata.name'

function specOf(namespace: MutableObject): Spec {
  return (namespace['spec'] ??= {}) as Spec
}

function statusOf(namespace: MutableObject): Status {
  return (namespace['status'] ??= {}) as Status
}

function setDefaults(namespace: MutableObject): void {
  statusOf(namespace).phase ||= 'Active'
  labelWithName(namespace)
}

/** Sets the label that lets selectors match a namespace by name. A generated name is not known before the create. */
function labelWithName({ metadata }: MutableObject): void {
  if (metadata.name) (metadata.labels ??= {})[nameLabel] = metadata.name
}

function checkFinalizers(namespace: MutableObject, indexed: boolean, errors: FieldError[]): void {
  for (const [i, name] of (specOf(namespace).finalizers ?? []).entries()) {
    const at = indexed ? finalizersPath.index(i) : finalizersPath
    addInvalid(errors, at, name, isQualifiedName(name))
    if (!name.includes('/') && name !== 'kubernetes' && name !== 'orphan' && name !== 'foregroundDeletion') {
      errors.push(invalid(at, name, 'name is neither a standard finalizer name nor is it fully qualified'))
    }
  }
}

const base: Strategy = {
  validateName: nameIsDNSLabel,
  returnDeletedObject: true,
  setDefaults,
  prepareForCreate: (namespace) => {
    statusOf(namespace).phase = 'Active'
    const finalizers = (specOf(namespace).finalizers ??= [])
    if (!finalizers.includes('kubernetes')) finalizers.push('kubernetes')
    labelWithName(namespace)
  },
  prepareForUpdate: (namespace, old) => {
    carryOver(namespace, old, ['spec', 'finalizers'])
    labelWithName(namespace)
  },
  validate: (namespace) => {
    const errors: FieldError[] = []
    checkFinalizers(namespace, false, errors)
    return errors
  },
  metadataOnUpdate: ['create', 'update'],
  validateUpdate: (namespace) => {
    const errors: FieldError[] = []
    checkFinalizers(namespace, false, errors)
    return errors
  },
  // The namespace stays, marked as terminating, until the namespace controller has deleted its content and removed the finalizers.
  foregroundWithoutOrphans: true,
  beginDelete: (namespace) => {
    if (namespace.metadata.deletionTimestamp !== undefined) {
      return (specOf(namespace).finalizers ?? []).length > 0 ? 'pending' : 'continue'
    }
    statusOf(namespace).phase = 'Terminating'
    return 'mark'
  },
  preconditionsOfStorage: true,
  keepDuringUpdate: (namespace) => (specOf(namespace).finalizers ?? []).length > 0,
}

function validateStatus(namespace: MutableObject): FieldError[] {
  const errors: FieldError[] = []
  const { phase = '' } = statusOf(namespace)
  const deleting = namespace.metadata.deletionTimestamp !== undefined
  const wanted = deleting ? 'Terminating' : 'Active'
  if (phase !== wanted) {
    const when = `\`deletionTimestamp\` is ${deleting ? 'not ' : ''}empty`
    errors.push(invalid(FieldPath.of('status', 'Phase'), phase, `may only be '${wanted}' if ${when}`))
  }
  return errors
}

const finalizeStrategy: Strategy = {
  ...base,
  prepareForUpdate: (namespace, old) => {
    carryOver(namespace, old, ['status'])
    labelWithName(namespace)
  },
  metadataOnUpdate: ['update'],
  validateUpdate: (namespace) => {
    const errors: FieldError[] = []
    checkFinalizers(namespace, true, errors)
    return errors
  },
  resetFields: FieldSet.of(fieldSetPath('status')),
}

/**
 * Keeps a namespace that contains objects which cannot be read. Lists leave them out, hence the namespace controller does not see them, and
 * they would appear again in the next namespace of this name.
 */
function refuseUnreadableContent(feed: StoreFeed, namespace: MutableObject): void {
  if ((specOf(namespace).finalizers ?? []).length > 0) return
  const unreadable = feed.unreadableIn(namespace.metadata.name ?? '')
  if (unreadable.length === 0) return
  const keys = unreadable.map(({ key }) => key).sort()
  throw new ApiError({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    code: 500,
    reason: 'StorageReadError',
    message:
      `the namespace contains objects that cannot be read from the storage: ${keys.slice(0, 5).join(', ')}` +
      `${keys.length > 5 ? ` and ${keys.length - 5} more` : ''}; ` +
      'delete them with the delete option ignoreStoreReadErrorWithClusterBreakingPotential',
    details: {
      name: namespace.metadata.name ?? '',
      kind: 'namespaces',
      causes: unreadable.slice(0, 100).map(({ key, problem = '' }) => ({
        reason: 'UnexpectedServerResponse',
        field: key,
        message: `StorageError: corrupt object, Code: 7, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${problem}`,
      })),
    },
  })
}

const { strategy, subresources } = withStatus(base, {
  validateUpdate: validateStatus,
  prepareForUpdate: labelWithName,
})

/** Namespaces (pkg/registry/core/namespace). The namespace controller deletes their content and then calls finalize. */
export const namespaces: BuiltinDefinition = defineBuiltin({
  group: '',
  resource: 'namespaces',
  table: defineTable<Namespace>([
    nameColumn,
    textColumn('Status', 'Phase of the namespace.', ({ status }) => status?.phase ?? ''),
    ageColumn,
  ]),
  strategy,
  subresources: {
    ...subresources,
    finalize: { verbs: ['update'], strategy: finalizeStrategy, hasTable: false },
  },
  withServer: ({ registry }) => ({
    subresources: {
      finalize: {
        verbs: ['update'],
        hasTable: false,
        strategy: {
          ...finalizeStrategy,
          prepareForUpdate: (namespace, old, context) => {
            finalizeStrategy.prepareForUpdate?.(namespace, old, context)
            refuseUnreadableContent(registry.feed, namespace)
          },
        },
      },
    },
  }),
  selectableFields: { 'status.phase': (namespace) => statusOf(namespace).phase ?? '' },
  unknownField: (label) => `field label not supported: ${label}`,
})
