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

/** Lets an update pass when `metadata.generation` changed: on most kinds that is any change but those of metadata and status. */
export const generationChanged: Predicate = Object.freeze({
  update: (before: KubeObject, after: KubeObject) => before.metadata.generation !== after.metadata.generation,
})

/** Lets an update pass when the object is not the same version as before: drops resyncs. */
export const resourceVersionChanged: Predicate = Object.freeze({
  update: (before: KubeObject, after: KubeObject) => before.metadata.resourceVersion !== after.metadata.resourceVersion,
})

/** Lets an update pass when the labels changed. */
export const labelsChanged: Predicate = Object.freeze({
  update: (before: KubeObject, after: KubeObject) =>
    !deepEqual(before.metadata.labels ?? {}, after.metadata.labels ?? {}),
})

/** Lets an update pass when the annotations changed. */
export const annotationsChanged: Predicate = Object.freeze({
  update: (before: KubeObject, after: KubeObject) =>
    !deepEqual(before.metadata.annotations ?? {}, after.metadata.annotations ?? {}),
})

/** Lets an update pass when the value at one of the paths changed, such as `spec.replicas` or `data`. */
export function changed<T extends KubeObject = KubeObject>(...paths: readonly [string, ...string[]]): Predicate<T> {
  const parsed = paths.map((path) => parseSimplePath(path.startsWith('.') ? path : `.${path}`))
  return Object.freeze({
    update: (before: T, after: T) => parsed.some((names) => !deepEqual(valueAt(before, names), valueAt(after, names))),
  })
}

/**
 * Lets pass what the function is true of. An update passes when it is true of the object before or after: one that ceases to match
 * is worth a last look, which controller-runtime's NewPredicateFuncs would not give it.
 */
export function when<T extends KubeObject = KubeObject>(test: (object: T) => boolean): Predicate<T> {
  return Object.freeze({ add: test, update: (before: T, after: T) => test(after) || test(before) })
}

/** Lets objects pass whose labels the selector selects: a text in the syntax of `labelSelector=`, or a LabelSelector. See {@link when}. */
export function labelSelector<T extends KubeObject = KubeObject>(selector: string | LabelSelector): Predicate<T> {
  const parsed = typeof selector === 'string' ? parseSelector(selector) : selectorFrom(selector)
  return when<T>((object) => parsed.matches(object.metadata.labels))
}

/** Lets pass what all of the predicates let pass. */
export function and<T extends KubeObject = KubeObject>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return Object.freeze({
    add: (object: T) => predicates.every((predicate) => predicate.add?.(object) ?? true),
    update: (before: T, after: T) => predicates.every((predicate) => predicate.update?.(before, after) ?? true),
  })
}

/** Lets pass what at least one of the predicates lets pass. */
export function or<T extends KubeObject = KubeObject>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return Object.freeze({
    add: (object: T) => predicates.some((predicate) => predicate.add?.(object) ?? true),
    update: (before: T, after: T) => predicates.some((predicate) => predicate.update?.(before, after) ?? true),
  })
}

/** Lets pass what the predicate does not. Deletions pass all the same, because no predicate is asked about them. */
export function not<T extends KubeObject = KubeObject>(predicate: Predicate<T>): Predicate<T> {
  return Object.freeze({
    add: (object: T) => !(predicate.add?.(object) ?? true),
    update: (before: T, after: T) => !(predicate.update?.(before, after) ?? true),
  })
}
