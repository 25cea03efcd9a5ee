import { FieldSet, type FieldSetPath, fieldSetPath } from '@kubewright/api'
import { deepCopy } from '@kubewright/base'
import type { MutableObject } from './object.ts'
import type { Strategy } from './strategy.ts'
import type { Subresource } from './subresource.ts'

/** How the status subresource of a kind differs from the usual one. */
export interface StatusOptions {
  /** What a write of the status leaves as it was, as dotted paths such as `metadata.labels`. @default ['spec'] */
  readonly keeps?: readonly string[]
  /** What such a write never owns, where it is not the same. @default `keeps` */
  readonly resets?: readonly string[]
  /** Runs after the kept parts were carried over. */
  readonly prepareForUpdate?: Strategy['prepareForUpdate']
  readonly validateUpdate?: Strategy['validateUpdate']
  readonly warningsOnUpdate?: Strategy['warningsOnUpdate']
  /** @default get, patch, update */
  readonly verbs?: readonly string[]
}

/** A strategy together with the status subresource that belongs to it, to be spread into a resource's additions. */
export interface StrategyWithStatus {
  readonly strategy: Strategy
  readonly subresources: { readonly status: Subresource }
}

/**
 * Splits a kind with a status into its two endpoints: writes of the object leave the status alone, and writes of the status leave the
 * rest alone. Neither endpoint's managed fields contain what it cannot change.
 */
export function withStatus(strategy: Strategy, options: StatusOptions = {}): StrategyWithStatus {
  return {
    strategy: mainStrategy(strategy),
    subresources: {
      status: { verbs: options.verbs ?? ['get', 'patch', 'update'], strategy: statusStrategy(strategy, options) },
    },
  }
}

/** The strategy of the object itself: its status starts empty and is never changed here. */
export function mainStrategy(strategy: Strategy): Strategy {
  const statusOnly = FieldSet.of(fieldSetPath('status'))
  return {
    ...strategy,
    prepareForCreate: (object, context) => {
      // Set again in its empty form by the kind's shape.
      delete object['status']
      strategy.prepareForCreate?.(object, context)
    },
    prepareForUpdate: (object, old, context) => {
      carryOver(object, old, ['status'])
      strategy.prepareForUpdate?.(object, old, context)
    },
    // Only subresources of their own are narrowed by filters.
    resetFields: strategy.resetFields instanceof FieldSet ? strategy.resetFields.union(statusOnly) : statusOnly,
  }
}

/** The strategy of the status subresource. Names and defaults are the object's; its other checks and hooks do not run. */
export function statusStrategy(main: Strategy, options: StatusOptions = {}): Strategy {
  const keeps = (options.keeps ?? ['spec']).map((path) => path.split('.'))
  const resets = (options.resets ?? options.keeps ?? ['spec']).map((path) => fieldPathOf(path.split('.')))
  return {
    ...(main.validateName ? { validateName: main.validateName } : {}),
    ...(main.setDefaults ? { setDefaults: main.setDefaults } : {}),
    ...(main.allowUnconditionalUpdate === undefined ? {} : { allowUnconditionalUpdate: main.allowUnconditionalUpdate }),
    ...(main.anyFinalizer === undefined ? {} : { anyFinalizer: main.anyFinalizer }),
    // A write of the status can be what ends a deletion: whether and how is up to the object.
    ...(main.keepDuringUpdate ? { keepDuringUpdate: main.keepDuringUpdate } : {}),
    ...(main.afterDelete ? { afterDelete: main.afterDelete } : {}),
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

function fieldPathOf(path: readonly string[]): FieldSetPath {
  return fieldSetPath(...(path as [string, ...string[]]))
}

/** Puts the part at the path back to what it was. */
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
