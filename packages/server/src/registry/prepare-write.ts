import { newInvalid, newRequestEntityTooLarge } from '@kubewright/api'
import {
  type Awaitable,
  append,
  deepEqual,
  defineBudget,
  nameIsDNSSubdomain,
  randomSuffix,
  uuid,
} from '@kubewright/base'
import {
  type FieldError,
  FieldPath,
  limitValidation,
  ValidationLimitError,
  validateObjectMeta,
} from '@kubewright/schema'
import { andThen } from '../request/awaitable.ts'
import type { MutableMeta, MutableObject } from '../resource/object.ts'
import type { Resource } from '../resource/resource.ts'
import { semanticEqual } from '../resource/semantic-equal.ts'
import type { StoredObject } from '../resource/stored-object.ts'
import type { Strategy, StrategyContext, Undo } from '../resource/strategy.ts'
import { validateFinalizerNames, validateObjectMetaUpdate } from '../resource/validate-object-meta.ts'
import { matchNamespace } from './match-namespace.ts'
import type { ObjectRegistry } from './object-registry.ts'
import { requireNewest } from './resource-version.ts'
import type { WriteScope } from './write-scope.ts'

const metadataPath = FieldPath.of('metadata')
/** Generated names are cut to this length, so that the random suffix fits into a DNS label. */
const maxGeneratedPrefix = 58
/**
 * The work that the validation of one object may take. The server computes in one thread, and a list of a million invalid items would hold
 * it for half a minute.
 */
const maxValidationSteps = defineBudget(1_000_000, {
  group: 'server',
  what: 'steps to validate an object: one for each list item, map entry or branch of anyOf, oneOf and allOf that a check visits, one for each 16 characters that a pattern reads, eight for each character of an expression that a CRD or policy contains, 40 for each schema of a CRD, at least 500 for each different pattern of it, 50 for each error',
  answer: '413',
  kubernetes: 'no limit',
})
/** The checks of metadata of an update, unless the strategy has others. */
const usualChecks: NonNullable<Strategy['metadataOnUpdate']> = ['update', 'create']
const nothingToUndo: Undo = async () => undefined

/**
 * Fills and validates an object that is about to be created, in place (registry/rest/create.go). Returns the function that releases
 * what the strategy has reserved; the caller must call it when the object is not stored after all. Releases by itself when it throws.
 */
export function prepareCreate(registry: ObjectRegistry, scope: WriteScope, object: MutableObject): Awaitable<Undo> {
  const { resource, strategy } = scope
  const context = registry.strategyContext(scope)
  setNewIdentity(registry, object.metadata, strategy)
  matchNamespace(object, namespaceOf(scope))
  strategy.prepareForCreate?.(object, context)
  if (strategy.generation) object.metadata.generation = 1
  takeWorkingForm(resource, object)
  return afterBegin(strategy.beginCreate?.(object, context), () => validateNew(scope, object, context))
}

/** Completes a write when its strategy has reserved what it needs, and releases that if the write fails. Returns what releases it. */
function afterBegin(begun: Promise<Undo | undefined> | undefined, complete: () => Awaitable<void>): Awaitable<Undo> {
  if (!begun) return andThen(complete(), () => nothingToUndo)
  return begun.then(async (undo = nothingToUndo) => {
    try {
      await complete()
      return undo
    } catch (error) {
      await undo(error)
      throw error
    }
  })
}

/** Throws, or rejects with, an Invalid error unless a new object is valid. Adds the warnings about it. */
function validateNew(scope: WriteScope, object: MutableObject, context: StrategyContext): Awaitable<void> {
  const { resource, strategy } = scope
  const metadataErrors = strategy.metadataOnCreate === false ? [] : validateByKind(scope, object.metadata)
  const validated = limited(() => strategy.validate?.(object, context))
  return andThen(validated, (ownErrors = []) => {
    throwInvalid(resource, object, [...metadataErrors, ...ownErrors])
    if (strategy.metadataOnCreate === false) throwInvalid(resource, object, validateByKind(scope, object.metadata))
    throwInvalid(resource, object, validateForAllKinds(resource, object.metadata))
    for (const text of limited(() => strategy.warningsOnCreate?.(object)) ?? []) scope.context.warn(text)
  })
}

/**
 * Fills and validates the next version of `old`, in place (registry/rest/update.go). The same contract as {@link prepareCreate}.
 * Throws a Conflict when the object names another resource version than that of `existing`.
 */
export function prepareUpdate(
  registry: ObjectRegistry,
  scope: WriteScope,
  existing: StoredObject,
  object: MutableObject,
  old: MutableObject,
): Awaitable<Undo> {
  requireNewest(scope, existing, object)
  const context = registry.strategyContext(scope)
  const begun = scope.strategy.beginUpdate?.(object, old, context)
  return afterBegin(begun, () => completeUpdate(scope, object, old, context))
}

/** Fills and validates the next version of `old`. Throws, or rejects with, an Invalid error unless it is valid. */
function completeUpdate(
  scope: WriteScope,
  object: MutableObject,
  old: MutableObject,
  context: StrategyContext,
): Awaitable<void> {
  const { resource, strategy } = scope
  matchNamespace(object, namespaceOf(scope))
  setOrDelete(object.metadata, 'generation', old.metadata.generation)
  strategy.prepareForUpdate?.(object, old, context)
  keepSystemFields(object.metadata, old.metadata)
  takeWorkingForm(resource, object)
  if (strategy.generation && specChanged(strategy.generation, object, old)) {
    object.metadata.generation = (old.metadata.generation ?? 0) + 1
  }
  return andThen(validateUpdate(scope, object, old, context), (errors) => {
    throwInvalid(resource, object, errors)
    for (const text of limited(() => strategy.warningsOnUpdate?.(object, old)) ?? []) scope.context.warn(text)
    keepManagedFieldsTimes(object, old)
  })
}

/** Runs a check of a strategy within {@link maxValidationSteps}. */
function limited<T>(check: () => T): T {
  try {
    return limitValidation(maxValidationSteps, check)
  } catch (error) {
    if (!(error instanceof ValidationLimitError)) throw error
    throw newRequestEntityTooLarge(
      `the object has too many items or errors to validate: limit is ${maxValidationSteps} steps`,
    )
  }
}

function setNewIdentity(registry: ObjectRegistry, meta: MutableMeta, { namesWithoutSuffix }: Strategy): void {
  delete meta['selfLink']
  meta.creationTimestamp = registry.timestamp()
  meta.uid = uuid(registry.random)
  if (meta.generateName && !meta.name) {
    meta.name = namesWithoutSuffix
      ? meta.generateName
      : meta.generateName.slice(0, maxGeneratedPrefix) + randomSuffix(registry.random, 5)
  }
}

function namespaceOf({ resource, namespace }: WriteScope): string {
  return resource.kind.scope === 'Namespaced' ? namespace : ''
}

function validateUpdate(
  scope: WriteScope,
  object: MutableObject,
  old: MutableObject,
  context: StrategyContext,
): Awaitable<readonly FieldError[]> {
  const { resource, strategy } = scope
  const { metadata: meta } = object
  const errors = validateForAllKinds(resource, meta)
  append(errors, validateObjectMetaUpdate(meta, old.metadata, metadataPath))
  // Repeats checks on purpose: each one adds a cause of its own to the error, as in kube-apiserver.
  for (const check of strategy.metadataOnUpdate ?? usualChecks) {
    if (check === 'create') {
      append(errors, validateByKind(scope, meta))
      continue
    }
    append(errors, validateObjectMetaUpdate(meta, old.metadata, metadataPath))
    append(errors, validateFinalizers(scope, meta))
  }
  const own = limited(() => strategy.validateUpdate?.(object, old, context))
  return andThen(own, (ownErrors = []) => [...errors, ...ownErrors])
}

/** The checks of metadata that do not depend on the kind. */
function validateForAllKinds({ kind }: Resource, meta: MutableMeta): FieldError[] {
  return validateObjectMeta(meta, metadataPath, { namespaced: kind.scope === 'Namespaced' })
}

/** The checks of metadata by the rules of the kind. */
function validateByKind(scope: WriteScope, meta: MutableMeta): FieldError[] {
  const { resource, strategy } = scope
  const namespaced = resource.kind.scope === 'Namespaced'
  const nameCheck = strategy.validateName ?? nameIsDNSSubdomain
  const errors = validateObjectMeta(meta, metadataPath, { namespaced, nameCheck })
  return [...errors, ...validateFinalizers(scope, meta)]
}

function validateFinalizers({ resource, strategy }: WriteScope, meta: MutableMeta): FieldError[] {
  if (!resource.origin.restrictsFinalizerNames || strategy.anyFinalizer || !meta.finalizers) return []
  return validateFinalizerNames(meta.finalizers, metadataPath.child('finalizers'))
}

function throwInvalid(resource: Resource, { kind, metadata }: MutableObject, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw newInvalid({ group: resource.errorGroup, kind }, metadata.name ?? '', errors)
}

/** Keeps the times of managed fields that are equal otherwise, so that a write without effect changes nothing. */
function keepManagedFieldsTimes(object: MutableObject, old: MutableObject): void {
  const [fresh, before] = [object.metadata.managedFields, old.metadata.managedFields]
  if (!fresh || !before || fresh.length !== before.length) return
  for (let i = 0; i < fresh.length; i++) if (!equalExcept('time', fresh[i]!, before[i]!)) return
  if (equalExcept('managedFields', object.metadata, old.metadata) && equalExcept('metadata', object, old)) {
    object.metadata.managedFields = before
  }
}

/** As `deepEqual` for two objects without one of their members. */
function equalExcept(
  name: string,
  a: Readonly<Record<string, unknown>>,
  b: Readonly<Record<string, unknown>>,
): boolean {
  for (const key in a) if (key !== name && !deepEqual(a[key], Object.hasOwn(b, key) ? b[key] : undefined)) return false
  for (const key in b) if (key !== name && b[key] !== undefined && !Object.hasOwn(a, key)) return false
  return true
}

/** Restores the fields of metadata that no update can change. */
function keepSystemFields(meta: MutableMeta, before: MutableMeta): void {
  if ('selfLink' in meta) delete meta['selfLink']
  meta.uid ||= before.uid!
  if (before.creationTimestamp !== undefined) meta.creationTimestamp = before.creationTimestamp
  if (before.deletionTimestamp !== undefined) meta.deletionTimestamp = before.deletionTimestamp
  if (before.deletionGracePeriodSeconds !== undefined && meta.deletionGracePeriodSeconds === undefined) {
    meta.deletionGracePeriodSeconds = before.deletionGracePeriodSeconds
  }
}

/** Gives an object its working form in place. */
function takeWorkingForm({ codec }: Resource, object: MutableObject): void {
  const form = codec.toWorkingForm(object, true)
  // The strategy may have put parts of the old object into this one, and the metadata changes after this.
  form.metadata = { ...form.metadata }
  if (form === object) return
  for (const key of Object.keys(object)) if (!(key in form)) delete object[key]
  Object.assign(object, form)
}

function specChanged(
  rule: true | ((object: MutableObject, old: MutableObject) => boolean),
  object: MutableObject,
  old: MutableObject,
): boolean {
  return rule === true ? !semanticEqual(object['spec'], old['spec']) : rule(object, old)
}

function setOrDelete<K extends string, V>(target: { [key in K]?: V }, key: K, value: V | undefined): void {
  if (value === undefined) delete target[key]
  else target[key] = value
}
