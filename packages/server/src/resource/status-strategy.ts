import { FieldSet, type FieldSetPath, fieldSetPath } from '@kubewright/api'
import { deepCopy } from '@kubewright/base'
import type { MutableObject } from './object.ts'
import type { Strategy } from './strategy.ts'
import type { Subresource } from './subresource.ts'

/** How the status subresource of a kind differs from the default. */
export interface StatusOptions {
  /** The fields that a write of the status cannot change, as dotted paths such as `metadata.labels`. @default ['spec'] */
  readonly keeps?: readonly string[] | undefined
  /** The fields that its managed fields never contain, where they differ from `keeps`. @default `keeps` */
  readonly resets?: readonly string[] | undefined
  /** Runs after the kept fields were restored. */
  readonly prepareForUpdate?: Strategy['prepareForUpdate'] | undefined
  readonly validateUpdate?: Strategy['validateUpdate'] | undefined
  readonly warningsOnUpdate?: Strategy['warningsOnUpdate'] | undefined
  /**
   * Which writes of the status create an object that does not exist, through the strategy of the object: all, or only apply. The hooks that
   * reserve resources do not run. @default none
   */
  readonly createsMissing?: 'always' | 'apply' | undefined
  /** @default get, patch, update */
  readonly verbs?: readonly string[] | undefined
  /** See {@link Subresource.hasTable}. @default true */
  readonly hasTable?: boolean | undefined
}

/** A strategy and the status subresource that belongs to it. */
export interface StrategyWithStatus {
  readonly strategy: Strategy
  readonly subresources: { readonly status: Subresource }
}

/**
 * Splits the strategy of a kind with a status into two endpoints: writes of the object cannot change the status, and writes of the
 * status cannot change the rest. Managed fields of an endpoint never contain fields that it cannot change.
 */
export function withStatus(strategy: Strategy, options: StatusOptions = {}): StrategyWithStatus {
  return {
    strategy: mainStrategy(strategy),
    subresources: {
      status: {
        verbs: options.verbs ?? ['get', 'patch', 'update'],
        strategy: statusStrategy(strategy, options),
        ...(options.hasTable === undefined ? {} : { hasTable: options.hasTable }),
      },
    },
  }
}

/** The strategy of the object itself: its status starts empty and cannot be changed. */
export function mainStrategy(strategy: Strategy): Strategy {
  const statusOnly = FieldSet.of(fieldSetPath('status'))
  return {
    ...strategy,
    prepareForCreate: (object, context) => {
      // The codec adds the empty status again where the kind requires one.
      delete object['status']
      strategy.prepareForCreate?.(object, context)
    },
    prepareForUpdate: (object, old, context) => {
      carryOver(object, old, ['status'])
      strategy.prepareForUpdate?.(object, old, context)
    },
    // A filter applies to subresources only; here the status is reset instead.
    resetFields: strategy.resetFields instanceof FieldSet ? strategy.resetFields.union(statusOnly) : statusOnly,
  }
}

/** The strategy of the status subresource. It takes names and defaults from the object's strategy, but no other checks and hooks. */
export function statusStrategy(main: Strategy, options: StatusOptions = {}): Strategy {
  const keeps = (options.keeps ?? ['spec']).map((path) => path.split('.'))
  const resets = (options.resets ?? options.keeps ?? ['spec']).map((path) => fieldPathOf(path.split('.')))
  return {
    ...(main.validateName ? { validateName: main.validateName } : {}),
    ...(main.setDefaults ? { setDefaults: main.setDefaults } : {}),
    ...(main.allowUnconditionalUpdate === undefined ? {} : { allowUnconditionalUpdate: main.allowUnconditionalUpdate }),
    ...(main.anyFinalizer === undefined ? {} : { anyFinalizer: main.anyFinalizer }),
    // A write of the status can remove the last finalizer and thereby end a deletion.
    ...(main.keepDuringUpdate ? { keepDuringUpdate: main.keepDuringUpdate } : {}),
    ...(main.storesFirstUpdate ? { storesFirstUpdate: main.storesFirstUpdate } : {}),
    ...(main.afterDelete ? { afterDelete: main.afterDelete } : {}),
    ...(options.createsMissing ? creation(main, options.createsMissing) : {}),
    metadataOnUpdate: ['update'],
    prepareForUpdate: (object, old, context) => {
      for (const path of keeps) carryOver(object, old, path)
      options.prepareForUpdate?.(object, old, context)
    },
    ...(options.validateUpdate ? { validateUpdate: options.validateUpdate } : {}),
    ...(options.warningsOnUpdate ? { warningsOnUpdate: options.warningsOnUpdate } : {}),
    resetFields: FieldSet.of(...resets),
  }
}

function creation(main: Strategy, by: 'always' | 'apply'): Strategy {
  const { prepareForCreate, validate, warningsOnCreate, generation } = mainStrategy(main)
  return {
    allowCreateOnApply: true,
    allowCreateOnUpdate: by === 'always',
    ...(prepareForCreate ? { prepareForCreate } : {}),
    ...(validate ? { validate } : {}),
    ...(warningsOnCreate ? { warningsOnCreate } : {}),
    // Writes of the status never change the generation.
    ...(generation ? { generation: () => false } : {}),
  }
}

function fieldPathOf(path: readonly string[]): FieldSetPath {
  return fieldSetPath(...(path as [string, ...string[]]))
}

/** Restores the field at the path to its value in `old`. */
export function carryOver(object: MutableObject, old: MutableObject, path: readonly string[]): void {
  let target: Record<string, unknown> = object
  let source: Record<string, unknown> | undefined = old
  for (const step of path.slice(0, -1)) {
    target = (target[step] ??= {}) as Record<string, unknown>
    source = source?.[step] as Record<string, unknown> | undefined
  }
  const last = path.at(-1)!
  const value = source?.[last]
  if (value === undefined) delete target[last]
  else target[last] = deepCopy(value)
}
