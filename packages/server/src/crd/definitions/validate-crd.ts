import { append, isDNS1035Label, isDNS1123Subdomain } from '@kubewright/base'
import {
  type CheckStructuralOptions,
  checkSelectableFields,
  type FieldError,
  FieldPath,
  invalid,
  type JSONSchemaProps,
  required,
} from '@kubewright/schema'
import { unsupported } from '../../builtins/checks/field-checks.ts'
import { semanticEqual } from '../../resource/semantic-equal.ts'
import { apiApprovalOf, approvalAnnotation, isProtectedGroup } from './api-approval.ts'
import { checkSchema } from './check-schema.ts'
import type { Crd, CrdNames, CrdSpec, CrdVersion } from './crd.ts'
import { isCrdCondition } from './crd-conditions.ts'
import { type InternalSpec, internalSpec, schemaOf, versionsValue } from './internal-spec.ts'
import { caBundleProblem, hasKnownReviewVersion, validateConversion } from './validate-conversion.ts'
import { validateColumn, validateDeprecation, validateSubresources } from './validate-version-parts.ts'

const specPath = FieldPath.of('spec')
const statusPath = FieldPath.of('status')
const immutable = 'field is immutable'
const maxSelectableFields = 8

/** Validates a new CRD, except for its metadata (apiextensions/validation). */
export function validateCrd(crd: Crd): FieldError[] {
  const errors: FieldError[] = []
  validateName(crd, errors)
  validateSpec(crd, undefined, errors)
  validateStatus(crd, errors)
  validateStoredVersions(crd, errors)
  validateApproval(crd, undefined, errors)
  validatePreserving(crd, undefined, errors)
  return errors
}

/** Validates an update of a CRD. Some errors that the old CRD has are accepted (ratcheting). */
export function validateCrdUpdate(crd: Crd, old: Crd): FieldError[] {
  const errors: FieldError[] = []
  validateSpec(crd, old, errors)
  validateImmutable(crd.spec, old, errors)
  validateStatus(crd, errors)
  validateStoredVersions(crd, errors)
  validateApproval(crd, old, errors)
  validatePreserving(crd, old, errors)
  return errors
}

/** Validates a write of the status. */
export function validateCrdStatusUpdate(crd: Crd): FieldError[] {
  const errors: FieldError[] = []
  validateStatus(crd, errors)
  return errors
}

/** The name of a CRD must be plural and group of the custom resource. */
function validateName({ metadata, spec }: Crd, errors: FieldError[]): void {
  const wanted = `${spec.names?.plural ?? ''}.${spec.group ?? ''}`
  for (const field of ['generateName', 'name'] as const) {
    const value = metadata[field]
    if (!value || value === wanted) continue
    errors.push(invalid(FieldPath.of('metadata', field), value, 'must be spec.names.plural+"."+spec.group'))
  }
}

function validateSpec(crd: Crd, old: Crd | undefined, errors: FieldError[]): void {
  const { spec } = crd
  const internal = internalSpec(spec)
  const { versions, shared } = internal
  const preserves = spec.preserveUnknownFields === true
  validateGroupAndScope(spec, errors)
  requireSchemas(internal, old, errors)
  if (preserves && hasDefaults(spec)) {
    const text = 'must be false in order to use defaults in the schema'
    errors.push(invalid(specPath.child('preserveUnknownFields'), true, text))
  }
  const checks = new SchemaChecks(spec, old)
  const versionsPath = specPath.child('versions')
  versions.forEach((version, i) => {
    const path = versionsPath.index(i)
    const name = version.name ?? ''
    const problems = isDNS1035Label(name)
    if (problems.length > 0) errors.push(invalid(path.child('name'), name, problems.join(',')))
    validateVersion(version, internal, path, checks, errors)
  })
  const names = versions.map(({ name = '' }) => name)
  if (new Set(names).size < names.length) {
    errors.push(invalid(versionsPath, versionsValue(internal, crd), 'must contain unique version names'))
  }
  if (versions.filter(({ storage }) => storage).length !== 1) {
    const text = 'must have exactly one version marked as storage version'
    errors.push(invalid(versionsPath, versionsValue(internal, crd), text))
  }
  if (names.length > 0 && names[0] !== '') {
    // The internal form also has the name of the first version in a field of its own.
    const problems = isDNS1035Label(names[0]!)
    if (problems.length > 0) errors.push(invalid(specPath.child('version'), names[0], problems.join(',')))
  }
  requireNames(spec.names ?? {}, errors)
  validateNames(spec.names ?? {}, specPath.child('names'), errors)
  const anyStatus = (spec.versions ?? []).some(({ subresources }) => subresources?.status !== undefined)
  const schema = schemaOf(shared)
  if (schema) {
    const path = specPath.child('validation', 'openAPIV3Schema')
    append(errors, checkSchema(schema, checks.options(names[0] ?? '', path, anyStatus)))
  }
  validateSubresources(shared.subresources, specPath.child('subresources'), errors)
  shared.additionalPrinterColumns?.forEach((column, i) => {
    validateColumn(column, specPath.child('additionalPrinterColumns').index(i), errors)
  })
  validateSharedSelectableFields(internal, checks, errors)
  if (preserves && spec.conversion && spec.conversion.strategy !== 'None') {
    const text = 'must be None if spec.preserveUnknownFields is true'
    errors.push(invalid(specPath.child('conversion', 'strategy'), spec.conversion.strategy ?? '', text))
  }
  validateConversion(
    spec.conversion,
    {
      anyReviewVersion: old?.spec.conversion !== undefined && !hasKnownReviewVersion(old.spec.conversion),
      anyCaBundle: !old || !isCrdCondition(old, 'Established') || hadBadCaBundle(old),
    },
    specPath.child('conversion'),
    errors,
  )
}

function validateGroupAndScope({ group = '', scope = '' }: CrdSpec, errors: FieldError[]): void {
  const path = specPath.child('group')
  const problems = isDNS1123Subdomain(group)
  if (group === '') errors.push(required(path))
  else if (problems.length > 0) errors.push(invalid(path, group, problems.join(',')))
  else if (!group.includes('.')) errors.push(invalid(path, group, 'should be a domain with at least one dot'))
  if (scope === '') errors.push(required(specPath.child('scope')))
  else if (scope !== 'Cluster' && scope !== 'Namespaced') {
    errors.push(unsupported(specPath.child('scope'), scope, ['Cluster', 'Namespaced']))
  }
}

/** Requires a schema for every version. If the old CRD lacks one, only for served versions whose fields would be pruned. */
function requireSchemas({ spec, versions, shared }: InternalSpec, old: Crd | undefined, errors: FieldError[]): void {
  if (schemaOf(shared)) return
  const lenient = old?.spec.versions?.some((version) => !schemaOf(version)) === true
  if (lenient && spec.preserveUnknownFields) return
  versions.forEach((version, i) => {
    if (schemaOf(version) || (lenient && !version.served)) return
    const path = specPath.child('versions').index(i).child('schema', 'openAPIV3Schema')
    errors.push(required(path, lenient ? 'because otherwise all fields are pruned' : ''))
  })
}

/** The effect of the stored CRD on the checks of the new schemas: parts that have not changed are checked less strictly. */
class SchemaChecks {
  readonly #stored: readonly JSONSchemaProps[]
  readonly #unchanged: ReadonlySet<string>
  readonly #tooMany: ReadonlySet<string>

  constructor(spec: CrdSpec, old: Crd | undefined) {
    const before = new Map((old?.spec.versions ?? []).map((version) => [version.name ?? '', version]))
    this.#stored = [...before.values()].flatMap((version) => schemaOf(version) ?? [])
    const kept = (spec.versions ?? []).filter(({ name = '' }) => before.has(name))
    const names = (versions: readonly CrdVersion[]): Set<string> => new Set(versions.map(({ name = '' }) => name))
    this.#unchanged = names(kept.filter(({ name = '', schema }) => semanticEqual(schema, before.get(name)!.schema)))
    this.#tooMany = names(
      kept.filter(({ name = '', selectableFields = [] }) => {
        const had = before.get(name)!.selectableFields ?? []
        return had.length > maxSelectableFields && semanticEqual(had, selectableFields)
      }),
    )
  }

  options(version: string, path: FieldPath, statusSubresource: boolean): CheckStructuralOptions {
    const unchanged = this.#unchanged.has(version)
    return { path, statusSubresource, unchanged, ...(this.#stored.length > 0 ? { stored: this.#stored } : {}) }
  }

  allowTooMany(version: string): boolean {
    return this.#tooMany.has(version)
  }
}

function validateVersion(
  version: CrdVersion,
  { shared }: InternalSpec,
  path: FieldPath,
  checks: SchemaChecks,
  errors: FieldError[],
): void {
  validateDeprecation(version, path.child('deprecationWarning'), errors)
  const schema = schemaOf(version)
  const name = version.name ?? ''
  if (schema) {
    const status = (version.subresources ?? shared.subresources)?.status !== undefined
    append(errors, checkSchema(schema, checks.options(name, path.child('schema', 'openAPIV3Schema'), status)))
  }
  validateSubresources(version.subresources, path.child('subresources'), errors)
  version.additionalPrinterColumns?.forEach((column, i) => {
    validateColumn(column, path.child('additionalPrinterColumns').index(i), errors)
  })
  const fields = version.selectableFields ?? []
  if (fields.length === 0) return
  const fieldsPath = path.child('selectableFields')
  if (schema) {
    append(errors, checkSelectableFields(fields, schema, fieldsPath, { allowTooMany: checks.allowTooMany(name) }))
  } else {
    errors.push(invalid(fieldsPath, '', 'may only be set when `version.schema.openAPIV3Schema` is not included'))
  }
}

function validateSharedSelectableFields({ shared }: InternalSpec, checks: SchemaChecks, errors: FieldError[]): void {
  const fields = shared.selectableFields ?? []
  if (fields.length === 0) return
  const path = specPath.child('selectableFields')
  const schema = schemaOf(shared)
  if (schema) {
    append(errors, checkSelectableFields(fields, schema, path, { allowTooMany: checks.allowTooMany('') }))
  } else errors.push(invalid(path, '', 'may only be set when validations.schema is included'))
}

function requireNames(names: CrdNames, errors: FieldError[]): void {
  for (const field of ['plural', 'singular', 'kind', 'listKind'] as const) {
    if (!names[field]) errors.push(required(specPath.child('names', field)))
  }
}

/** Validates the names that are set. */
function validateNames(names: CrdNames, path: FieldPath, errors: FieldError[]): void {
  const check = (at: FieldPath, value: string, label: string, prefix = ''): void => {
    const problems = isDNS1035Label(label)
    if (problems.length > 0) errors.push(invalid(at, value, prefix + problems.join(',')))
  }
  for (const field of ['plural', 'singular'] as const) {
    const name = names[field]
    if (name) check(path.child(field), name, name)
  }
  for (const field of ['kind', 'listKind'] as const) {
    const name = names[field]
    if (name) check(path.child(field), name, name.toLowerCase(), 'may have mixed case, but should otherwise match: ')
  }
  for (const [i, name] of (names.shortNames ?? []).entries()) check(path.child('shortNames').index(i), name, name)
  if (names.kind && names.kind === names.listKind) {
    errors.push(invalid(path.child('listKind'), names.listKind, 'kind and listKind may not be the same'))
  }
  for (const [i, name] of (names.categories ?? []).entries()) check(path.child('categories').index(i), name, name)
}

function validateStatus({ status }: Crd, errors: FieldError[]): void {
  validateNames(status?.acceptedNames ?? {}, statusPath.child('acceptedNames'), errors)
}

/** Every version in which objects may be stored must remain in the spec. */
function validateStoredVersions({ spec, status }: Crd, errors: FieldError[]): void {
  const path = statusPath.child('storedVersions')
  const stored = status?.storedVersions ?? []
  if (stored.length === 0) {
    errors.push(invalid(path, status?.storedVersions ?? null, 'must have at least one stored version'))
    return
  }
  const versions = spec.versions ?? []
  for (const { name = '', storage } of versions) {
    if (storage && !stored.includes(name)) errors.push(invalid(path, stored, `must have the storage version ${name}`))
  }
  stored.forEach((name, i) => {
    if (versions.some((version) => version.name === name)) return
    const text = `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`
    errors.push(invalid(path.index(i), name, text))
  })
}

function validateImmutable({ group, scope, names }: CrdSpec, old: Crd, errors: FieldError[]): void {
  const keep = (path: FieldPath, value: string | undefined, before: string | undefined): void => {
    if ((value ?? '') !== (before ?? '')) errors.push(invalid(path, value ?? '', immutable))
  }
  if (isCrdCondition(old, 'Established')) {
    keep(specPath.child('scope'), scope, old.spec.scope)
    keep(specPath.child('names', 'kind'), names?.kind, old.spec.names?.kind)
  }
  keep(specPath.child('group'), group, old.spec.group)
  keep(specPath.child('names', 'plural'), names?.plural, old.spec.names?.plural)
}

function validateApproval(crd: Crd, old: Crd | undefined, errors: FieldError[]): void {
  if (!isProtectedGroup(crd.spec.group ?? '')) return
  const { state, reason } = apiApprovalOf(crd.metadata)
  if (old && apiApprovalOf(old.metadata).state === state) return
  const path = FieldPath.of('metadata', 'annotations').key(approvalAnnotation)
  if (state === 'missing') errors.push(required(path, reason))
  else if (state === 'invalid') {
    errors.push(invalid(path, crd.metadata.annotations?.[approvalAnnotation] ?? '', reason))
  }
}

function validatePreserving(crd: Crd, old: Crd | undefined, errors: FieldError[]): void {
  if (old?.spec.preserveUnknownFields || !crd.spec.preserveUnknownFields) return
  const text = 'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead'
  errors.push(invalid(specPath.child('preserveUnknownFields'), true, text))
}

function hadBadCaBundle({ spec }: Crd): boolean {
  return caBundleProblem(spec.conversion?.webhook?.clientConfig?.caBundle) !== undefined
}

function hasDefaults({ versions = [] }: CrdSpec): boolean {
  const within = (node: unknown): boolean => {
    if (typeof node !== 'object' || node === null) return false
    if (!Array.isArray(node) && (node as { default?: unknown }).default !== undefined) return true
    return Object.values(node).some(within)
  }
  return versions.some(({ schema }) => within(schema?.openAPIV3Schema))
}
