import { CaughtError, goQuote } from '@kubewright/base'
import type { ApiError } from '../api-error.ts'
import { newApplyConflict } from '../api-error-constructors.ts'
import { FieldSet } from '../fieldset/field-set.ts'
import { type FieldSetPath, formatFieldSetPath } from '../fieldset/path-element.ts'
import { identityOf } from './managed-fields.ts'

/** A field that an apply would change and that another manager owns. */
export interface Conflict {
  /** The identifier of the owning manager. */
  readonly manager: string
  readonly path: FieldSetPath
}

/** Thrown by the updater when an apply without force would change fields of other managers. */
export class ApplyConflicts extends CaughtError {
  readonly conflicts: readonly Conflict[]

  constructor(conflicts: readonly Conflict[]) {
    super(conflictMessage(conflicts))
    this.conflicts = conflicts
  }

  /** The conflicting fields, regardless of owner. */
  get fields(): FieldSet {
    return FieldSet.from(this.conflicts.map(({ path }) => path))
  }

  /** The Conflict status, with one cause for each field. */
  toApiError(): ApiError {
    const causes = this.conflicts.map(({ manager, path }) => ({
      reason: 'FieldManagerConflict' as const,
      message: `conflict with ${describeManager(manager)}`,
      field: formatFieldSetPath(path),
    }))
    return newApplyConflict(causes, this.message)
  }
}

function conflictMessage(conflicts: readonly Conflict[]): string {
  const [first] = conflicts
  if (conflicts.length === 1 && first) {
    return `Apply failed with 1 conflict: conflict with ${describeManager(first.manager)}: ${formatFieldSetPath(first.path)}`
  }
  const lines: string[] = []
  let last: string | undefined
  for (const { manager, path } of conflicts) {
    if (manager !== last) lines.push(`conflicts with ${describeManager(manager)}:`)
    last = manager
    lines.push(`- ${formatFieldSetPath(path)}`)
  }
  return `Apply failed with ${conflicts.length} conflicts: ${lines.join('\n')}`
}

function describeManager(identifier: string): string {
  const { manager, operation, apiVersion, subresource } = identityOf(identifier)
  let text = goQuote(manager ?? '')
  if (subresource) text += ` with subresource ${goQuote(subresource)}`
  return operation === 'Update' ? `${text} using ${apiVersion ?? ''}` : text
}
