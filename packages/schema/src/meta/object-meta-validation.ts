import {
  append,
  asList,
  goQuote,
  isPathSegmentName,
  isQualifiedName,
  isValidLabelValue,
  nameIsDNSLabel,
  type ObjectNameCheck,
  textOf,
  utf8Length,
} from '@kubewright/base'
import { type FieldError, forbidden, invalid, RawValue, required, tooLong } from '../field/field-error.ts'
import type { FieldPath } from '../field/field-path.ts'
import { goJson } from '../field/go-format.ts'

/** Facts about the kind that {@link validateObjectMeta} needs. */
export interface ObjectMetaOptions {
  /** Whether the kind is namespaced. */
  readonly namespaced: boolean
  /** Checks the name. @default names that are valid URL path segments */
  readonly nameCheck?: ObjectNameCheck | undefined
}

type Meta = Readonly<Record<string, unknown>>
type OwnerReference = Readonly<Record<string, unknown>>

/** The maximum length of a field manager's name in bytes. */
export const fieldManagerMaxLength = 128

/** The name of nearly every manager: printable ASCII within the limit. Each write validates all managers of an object. */
const PLAIN_MANAGER = /^[ -~]{0,128}$/
const ANNOTATION_SIZE_LIMIT = 256 * 1024
const SUBRESOURCE_SIZE_LIMIT = 256

/**
 * Validates object metadata on creation, after name generation: apimachinery's `ValidateObjectMeta`.
 *
 * Fields of the wrong type are treated as absent; decoding reports them.
 */
export function validateObjectMeta(meta: Meta, path: FieldPath, options: ObjectMetaOptions): FieldError[] {
  const errors: FieldError[] = []
  const nameCheck = options.nameCheck ?? isPathSegmentName
  const generateName = textOf(meta['generateName'])
  const name = textOf(meta['name'])
  if (generateName !== '') {
    for (const message of nameCheck(generateName, true))
      errors.push(invalid(path.child('generateName'), generateName, message))
  }
  if (name === '') errors.push(required(path.child('name'), 'name or generateName is required'))
  else for (const message of nameCheck(name, false)) errors.push(invalid(path.child('name'), name, message))
  checkNamespace(textOf(meta['namespace']), options.namespaced, path.child('namespace'), errors)
  const generation = meta['generation']
  if (typeof generation === 'number' && generation < 0) {
    errors.push(invalid(path.child('generation'), generation, 'must be greater than or equal to 0'))
  }
  const lists = [
    validateLabels(record(meta['labels']), path.child('labels')),
    validateAnnotations(record(meta['annotations']), path.child('annotations')),
    validateOwnerReferences(asList(meta['ownerReferences']), path.child('ownerReferences')),
    validateFinalizers(asList(meta['finalizers']).map(textOf), path.child('finalizers')),
    validateManagedFields(asList(meta['managedFields']), path.child('managedFields')),
  ]
  for (const found of lists) append(errors, found)
  return errors
}

function checkNamespace(namespace: string, namespaced: boolean, path: FieldPath, errors: FieldError[]): void {
  if (!namespaced) {
    if (namespace !== '') errors.push(forbidden(path, 'not allowed on this type'))
  } else if (namespace === '') {
    errors.push(required(path))
  } else {
    for (const message of nameIsDNSLabel(namespace, false)) errors.push(invalid(path, namespace, message))
  }
}

/** Validates label keys and values, in the order of the keys. */
export function validateLabels(labels: Meta | undefined, path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  for (const key of sortedKeys(labels)) {
    const value = textOf(labels![key])
    for (const message of isQualifiedName(key)) errors.push(invalid(path, key, message))
    for (const message of isValidLabelValue(value)) errors.push(invalid(path, value, message))
  }
  return errors
}

/** Validates annotation keys, in their order, and the size of all annotations together. */
export function validateAnnotations(annotations: Meta | undefined, path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  let size = 0
  for (const key of sortedKeys(annotations)) {
    // Annotation keys are case-insensitive.
    for (const message of isQualifiedName(key.toLowerCase())) errors.push(invalid(path, key, message))
    size += utf8Length(key) + utf8Length(textOf(annotations![key]))
  }
  if (size > ANNOTATION_SIZE_LIMIT) errors.push(tooLong(path, ANNOTATION_SIZE_LIMIT))
  return errors
}

function sortedKeys(map: Meta | undefined): readonly string[] {
  const keys = Object.keys(map ?? {})
  for (let i = 1; i < keys.length; i++) if (keys[i - 1]! > keys[i]!) return keys.sort()
  return keys
}

/** Validates owner references. At most one of them may be the controller. */
export function validateOwnerReferences(references: readonly unknown[], path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  let controller = ''
  // All errors quote the same list.
  let shown: RawValue | undefined
  for (const item of references) {
    const reference = (item ?? {}) as OwnerReference
    checkOwnerReference(reference, path, errors)
    if (reference['controller'] !== true) continue
    const current = `${textOf(reference['kind'])}/${textOf(reference['name'])}`
    if (controller === '') {
      controller = current
      continue
    }
    shown ??= new RawValue(
      `[${references.map((each) => ownerReferenceJson((each ?? {}) as OwnerReference)).join(',')}]`,
    )
    const detail = `Only one reference can have Controller set to true. Found "true" in references for ${controller} and ${current}`
    errors.push(invalid(path, shown, detail))
  }
  return errors
}

function checkOwnerReference(reference: OwnerReference, path: FieldPath, errors: FieldError[]): void {
  const apiVersion = textOf(reference['apiVersion'])
  const kind = textOf(reference['kind'])
  const slash = apiVersion.indexOf('/')
  const malformed = apiVersion.split('/').length > 2
  const version = malformed || apiVersion === '/' ? '' : apiVersion.slice(slash + 1)
  if (version === '') errors.push(invalid(path.child('apiVersion'), apiVersion, 'version must not be empty'))
  if (kind === '') errors.push(invalid(path.child('kind'), kind, 'must not be empty'))
  if (textOf(reference['name']) === '') errors.push(invalid(path.child('name'), '', 'must not be empty'))
  if (textOf(reference['uid']) === '') errors.push(invalid(path.child('uid'), '', 'must not be empty'))
  if (apiVersion === 'v1' && kind === 'Event') {
    const shown = new RawValue(ownerReferenceJson(reference))
    errors.push(invalid(path, shown, '/v1, Kind=Event is disallowed from being an owner'))
  }
}

/** Formats the reference like Go marshals the struct, in the order of its fields. */
function ownerReferenceJson(reference: OwnerReference): string {
  const parts = ['apiVersion', 'kind', 'name', 'uid'].map((key) => `"${key}":${goJson(textOf(reference[key]))}`)
  for (const key of ['controller', 'blockOwnerDeletion']) {
    if (typeof reference[key] === 'boolean') parts.push(`"${key}":${reference[key]}`)
  }
  return `{${parts.join(',')}}`
}

/** Validates finalizer names, and that orphan and foreground deletion are not requested together. */
export function validateFinalizers(finalizers: readonly string[], path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  for (const finalizer of finalizers) {
    for (const message of isQualifiedName(finalizer)) errors.push(invalid(path, finalizer, message))
  }
  if (finalizers.includes('orphan') && finalizers.includes('foregroundDeletion')) {
    errors.push(invalid(path, finalizers, 'finalizer orphan and foregroundDeletion cannot be both set'))
  }
  return errors
}

/** Validates the parts of managed fields entries that clients may write. */
export function validateManagedFields(entries: readonly unknown[], path: FieldPath): FieldError[] {
  const errors: FieldError[] = []
  entries.forEach((item, i) => {
    const entry = (item ?? {}) as Readonly<Record<string, unknown>>
    const at = path.index(i)
    const operation = textOf(entry['operation'])
    if (operation !== 'Apply' && operation !== 'Update') {
      errors.push(invalid(at.child('operation'), operation, 'must be `Apply` or `Update`'))
    }
    const fieldsType = textOf(entry['fieldsType'])
    if (fieldsType !== '' && fieldsType !== 'FieldsV1') {
      errors.push(invalid(at.child('fieldsType'), fieldsType, 'must be `FieldsV1`'))
    }
    append(errors, validateFieldManager(textOf(entry['manager']), at.child('manager')))
    if (utf8Length(textOf(entry['subresource'])) > SUBRESOURCE_SIZE_LIMIT) {
      errors.push(tooLong(at.child('subresource'), SUBRESOURCE_SIZE_LIMIT))
    }
  })
  return errors
}

/** Validates the name of a field manager: printable, at most 128 bytes. */
export function validateFieldManager(manager: string, path: FieldPath): FieldError[] {
  if (PLAIN_MANAGER.test(manager)) return []
  const errors: FieldError[] = []
  if (utf8Length(manager) > fieldManagerMaxLength) errors.push(tooLong(path, fieldManagerMaxLength))
  let position = 0
  for (const char of manager) {
    const code = char.codePointAt(0) as number
    // Besides the quote and the backslash, quoting escapes exactly the characters that are not printable.
    const printable = char === '"' || char === '\\' || goQuote(char) === `"${char}"`
    if (!printable) {
      const shown = `U+${code.toString(16).toUpperCase().padStart(4, '0')}`
      errors.push(invalid(path, manager, `invalid character ${shown} (at position ${position})`))
    }
    position += utf8Length(char)
  }
  return errors
}

function record(value: unknown): Meta {
  return typeof value === 'object' && value !== null ? (value as Meta) : {}
}
