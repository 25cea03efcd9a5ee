import {
  type KubeObject,
  type LabelSelector,
  parseSelector,
  parseSimplePath,
  selectorFrom,
  valueAt,
} from '@kubewright/api'
import { deepEqual } from '@kubewright/base'
import type { Predicate } from './predicate.ts'

/**
 * Accepts updates that change `metadata.generation`: on most kinds every change except those of metadata and status.
 */
export const generationChanged: Predicate = Object.freeze({
  update: (before: KubeObject, after: KubeObject) => before.metadata.generation !== after.metadata.generation,
})

/** Accepts updates that change `metadata.resourceVersion`: drops resyncs. */
export const resourceVersionChanged: Predicate = Object.freeze({
  update: (before: KubeObject, after: KubeObject) => before.metadata.resourceVersion !== after.metadata.resourceVersion,
})

/** Accepts updates that change the labels. */
export const labelsChanged: Predicate = Object.freeze({
  update: (before: KubeObject, after: KubeObject) =>
    !deepEqual(before.metadata.labels ?? {}, after.metadata.labels ?? {}),
})

/** Accepts updates that change the annotations. */
export const annotationsChanged: Predicate = Object.freeze({
  update: (before: KubeObject, after: KubeObject) =>
    !deepEqual(before.metadata.annotations ?? {}, after.metadata.annotations ?? {}),
})

/** Accepts updates that change the value at one of the paths, such as `spec.replicas` or `data`. */
export function changed<T extends KubeObject = KubeObject>(...paths: readonly [string, ...string[]]): Predicate<T> {
  const parsed = paths.map((path) => parseSimplePath(path.startsWith('.') ? path : `.${path}`))
  return Object.freeze({
    update: (before: T, after: T) => parsed.some((names) => !deepEqual(valueAt(before, names), valueAt(after, names))),
  })
}

/**
 * Accepts objects for which the function returns true. An update is accepted when it returns true for the object before
 * or after: an object that no longer matches gets a last reconcile, unlike with controller-runtime's NewPredicateFuncs.
 */
export function when<T extends KubeObject = KubeObject>(test: (object: T) => boolean): Predicate<T> {
  return Object.freeze({ add: test, update: (before: T, after: T) => test(after) || test(before) })
}

/**
 * Accepts objects whose labels match a selector: a text in the syntax of `labelSelector=`, or a LabelSelector. See
 * {@link when}.
 */
export function labelSelector<T extends KubeObject = KubeObject>(selector: string | LabelSelector): Predicate<T> {
  const parsed = typeof selector === 'string' ? parseSelector(selector) : selectorFrom(selector)
  return when<T>((object) => parsed.matches(object.metadata.labels))
}

/** Accepts a change when all predicates accept it. */
export function and<T extends KubeObject = KubeObject>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return Object.freeze({
    add: (object: T) => predicates.every((predicate) => predicate.add?.(object) ?? true),
    update: (before: T, after: T) => predicates.every((predicate) => predicate.update?.(before, after) ?? true),
  })
}

/** Accepts a change when at least one predicate accepts it. */
export function or<T extends KubeObject = KubeObject>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return Object.freeze({
    add: (object: T) => predicates.some((predicate) => predicate.add?.(object) ?? true),
    update: (before: T, after: T) => predicates.some((predicate) => predicate.update?.(before, after) ?? true),
  })
}

/** Accepts a change when the predicate rejects it. Deletions always pass. */
export function not<T extends KubeObject = KubeObject>(predicate: Predicate<T>): Predicate<T> {
  return Object.freeze({
    add: (object: T) => !(predicate.add?.(object) ?? true),
    update: (before: T, after: T) => !(predicate.update?.(before, after) ?? true),
  })
}
