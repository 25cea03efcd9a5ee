import { FieldSet, fieldSetPath, newInvalid, parseGroupVersion } from '@kubewright/api'
import { deepCopy, deepEqual, goQuote, isQualifiedName } from '@kubewright/base'
import { type FieldError, FieldPath, invalid, validateObjectMeta } from '@kubewright/schema'
import type { MutableObject } from '../../resource/object.ts'
import type { Strategy } from '../../resource/strategy.ts'
import type { CrdScale } from '../definitions/crd.ts'
import type { CustomVersion, CustomVersions } from './custom-versions.ts'
import { validateScaleSpec, validateScaleStatus } from './validate-scale.ts'

const standardFinalizers = new Set(['orphan', 'foregroundDeletion', 'kubernetes'])

/** The strategies of a custom resource and of its status subresource (registry/customresource/strategy.go). */
export function customStrategies(
  versions: CustomVersions,
  own: CustomVersion,
): { readonly main: Strategy; readonly status: Strategy } {
  const { subresources } = own.version
  const { scale } = subresources ?? {}
  const hasStatus = subresources?.status !== undefined
  const shared: Strategy = { metadataOnUpdate: ['update'], allowUnconditionalUpdate: false }
  const main: Strategy = {
    ...shared,
    generation: changed,
    prepareForCreate: (object) => {
      if (hasStatus) delete object['status']
      checkType(versions, own, object)
    },
    prepareForUpdate: (object, old) => {
      if (hasStatus) {
        if (old['status'] !== undefined) object['status'] = deepCopy(old['status'])
        else delete object['status']
      }
      checkType(versions, own, object)
    },
    validate: (object) => {
      const others = scaleErrors(object, scale, true)
      const errors = own.schema.validate(object, { preceding: [...metadataErrors(object), ...others] })
      return inOrder(errors, others, () => own.schema.validateKeywords(object).length)
    },
    validateUpdate: (object, old, { request }) => {
      const others = scaleErrors(object, scale, true)
      const options = { preceding: others, onWarning: request.warn }
      return inOrder(own.schema.validateUpdate(object, old, options), others, () => 0)
    },
    warningsOnCreate: (object) => finalizerWarnings(object, undefined),
    warningsOnUpdate: (object, old) => finalizerWarnings(object, old),
    ...(hasStatus ? { resetFields: FieldSet.of(fieldSetPath('status')), resetsOwnVersionOnly: true } : {}),
  }
  const status: Strategy = {
    ...shared,
    prepareForUpdate: keepAllButStatus,
    validateUpdate: (object, old, { request }) => {
      const others = scaleErrors(object, scale, false)
      const options = { preceding: others, onWarning: request.warn }
      return inOrder(own.schema.validateStatusUpdate(object, old, options), others, () => 0)
    },
    resetFields: FieldSet.of(fieldSetPath('spec')),
  }
  return { main, status }
}

/** Whether the generation grows: with every change except that of metadata. */
function changed(object: MutableObject, old: MutableObject): boolean {
  const { metadata: _, ...next } = object
  const { metadata: __, ...before } = old
  return !deepEqual(next, before)
}

/** Throws when an object has another kind or apiVersion; no other errors are reported then. */
function checkType({ kind }: CustomVersions, { apiVersion }: CustomVersion, object: MutableObject): void {
  const errors: FieldError[] = []
  if (object.kind !== kind) errors.push(invalid(FieldPath.of('kind'), object.kind, `must be ${kind}`))
  if (object.apiVersion !== apiVersion) {
    errors.push(invalid(FieldPath.of('apiVersion'), object.apiVersion, `must be ${apiVersion}`))
  }
  if (errors.length === 0) return
  const { group } = parseGroupVersion(object.apiVersion)
  throw newInvalid({ group, kind: object.kind }, object.metadata.name ?? '', errors)
}

/** Errors of metadata. The registry reports them; here they only prevent the evaluation of rules, as in kube-apiserver. */
function metadataErrors({ metadata }: MutableObject): FieldError[] {
  return validateObjectMeta(metadata, FieldPath.of('metadata'), {
    namespaced: metadata.namespace !== undefined,
    nameCheck: () => [],
  })
}

function scaleErrors(object: MutableObject, scale: CrdScale | undefined, spec: boolean): FieldError[] {
  if (!scale) return []
  return [...(spec ? validateScaleSpec(object, scale) : []), ...validateScaleStatus(object, scale)]
}

/** Inserts the errors of the scale behind those of schema keywords and before all others. */
function inOrder(errors: FieldError[], scale: readonly FieldError[], keywords: () => number): FieldError[] {
  if (scale.length === 0 || errors.length === 0) return errors.length === 0 ? [...scale] : errors
  const at = keywords()
  return [...errors.slice(0, at), ...scale, ...errors.slice(at)]
}

/** Restores everything but the status and the managed fields. */
function keepAllButStatus(object: MutableObject, old: MutableObject): void {
  const { status } = object
  const { managedFields } = object.metadata
  for (const field of Object.keys(object)) if (!Object.hasOwn(old, field)) delete object[field]
  Object.assign(object, deepCopy(old))
  if (managedFields) object.metadata.managedFields = managedFields
  else delete object.metadata.managedFields
  if (status === undefined) delete object['status']
  else object['status'] = status
}

/** Warnings about finalizers that built-in kinds would reject. */
function finalizerWarnings({ metadata }: MutableObject, old: MutableObject | undefined): string[] {
  const before = new Set(old?.metadata.finalizers)
  const added = [...new Set(metadata.finalizers)].filter((name) => !before.has(name)).sort()
  return added.flatMap((name) => {
    const prefix = `metadata.finalizers: ${goQuote(name)}: `
    const texts = isQualifiedName(name).map((problem) => prefix + problem)
    if (!name.includes('/') && !standardFinalizers.has(name)) {
      const path = name.includes('.') ? ' including a path (/)' : ''
      texts.push(
        `${prefix}prefer a domain-qualified finalizer name${path} to avoid accidental conflicts with other finalizer writers`,
      )
    }
    return texts
  })
}
