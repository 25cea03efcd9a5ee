import type { FieldError } from '../field-error.ts'
import type { FieldPath } from '../field-path.ts'
import type { Correlation } from './correlation.ts'
import type { StructuralNode } from './structural-node.ts'

/** What a run of rules knows about the update it belongs to. */
export interface RuleRunOptions {
  readonly correlation: Correlation | undefined
  readonly onWarning: ((text: string) => void) | undefined
}

/** The compiled `x-kubernetes-validations` of a schema. */
export class RuleValidator {
  static of(_node: StructuralNode, _resource: boolean): RuleValidator | null {
    return null
  }

  validate(_value: unknown, _old: unknown, _path: FieldPath, _options: RuleRunOptions): FieldError[] {
    return []
  }
}
