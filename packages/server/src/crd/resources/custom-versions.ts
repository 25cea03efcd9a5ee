import { parseGroupVersion } from '@kubewright/api'
import { append, CaughtError } from '@kubewright/base'
import { compileSchema, decodeObjectMeta, type JSONSchemaProps, type StructuralSchema } from '@kubewright/schema'
import type { MutableMeta, MutableObject } from '../../resource/object.ts'
import type { Crd, CrdVersion } from '../definitions/crd.ts'

/** Options of {@link CustomVersions.normalize}. */
export interface NormalizeOptions {
  /** Whether to return the fields that were dropped, which costs time. */
  readonly report: boolean
  /** Whether to drop metadata of the wrong type instead of throwing. */
  readonly dropInvalid: boolean
}

/** A version of a custom resource. Its schema is compiled when first used. */
export class CustomVersion {
  readonly version: CrdVersion
  readonly apiVersion: string
  readonly json: JSONSchemaProps | undefined
  #schema: StructuralSchema | undefined

  constructor(group: string, version: CrdVersion) {
    this.version = version
    this.apiVersion = `${group}/${version.name}`
    this.json = version.schema?.openAPIV3Schema
  }

  /** Whether an object without a status gets one by default. */
  get defaultsStatus(): boolean {
    return this.json?.properties?.['status']?.default !== undefined
  }

  get schema(): StructuralSchema {
    return (this.#schema ??= compileSchema(this.json ?? nothing))
  }
}

/** The schema of undefined versions: everything but metadata is pruned. */
const nothing: JSONSchemaProps = { type: 'object' }

/** All versions of a custom resource, with the pruning and defaulting of its objects. */
export class CustomVersions {
  readonly group: string
  readonly kind: string
  readonly storage: CustomVersion
  /** All versions by apiVersion. */
  readonly all: ReadonlyMap<string, CustomVersion>
  readonly #preserves: boolean
  readonly #unknown: StructuralSchema = compileSchema(nothing)

  constructor({ spec, status }: Crd) {
    this.group = spec.group ?? ''
    this.kind = status.acceptedNames?.kind ?? ''
    this.#preserves = spec.preserveUnknownFields === true
    const versions = (spec.versions ?? []).map((version) => new CustomVersion(this.group, version))
    this.all = new Map(versions.map((version) => [version.apiVersion, version]))
    const storage = versions.find(({ version }) => version.storage)
    if (!storage) throw new CaughtError(`CustomResourceDefinition ${this.kind} has no storage version`)
    this.storage = storage
  }

  /**
   * Decodes the metadata of an object and prunes it by the schema of its apiVersion, in place: drops unknown fields, and nulls that the
   * schema does not allow. Returns the paths of dropped fields. Throws an Error for malformed metadata. Idempotent. An object of another
   * kind is not pruned, because later checks reject it.
   */
  normalize(object: MutableObject, { report, dropInvalid }: NormalizeOptions): readonly string[] {
    const unknown: string[] = []
    let meta: MutableMeta = {}
    if (object.metadata !== undefined) {
      const decoded = decodeObjectMeta(object.metadata, dropInvalid)
      if (decoded.error !== undefined) throw new CaughtError(decoded.error)
      for (const path of decoded.unknown) unknown.push(`metadata.${path}`)
      meta = decoded.meta
    }
    const schema = this.#schemaOf(object)
    if (schema) {
      if (!this.#preserves) {
        if (report) append(unknown, schema.prune(object))
        else schema.pruneSilently(object)
        schema.dropNulls(object)
      }
      const coerced = schema.coerceMetadata(object, { dropInvalid })
      if (coerced.error) throw new CaughtError(coerced.error.toString())
      append(unknown, coerced.unknown)
    }
    object.metadata = meta
    return unknown
  }

  /** Sets the defaults of the object's apiVersion, in place. */
  default(object: MutableObject): void {
    this.#schemaOf(object)?.default(object)
  }

  #schemaOf({ kind, apiVersion }: MutableObject): StructuralSchema | undefined {
    if (kind !== this.kind) return undefined
    const known = this.all.get(apiVersion)
    if (known) return known.schema
    return parseGroupVersion(apiVersion).group === this.group ? this.#unknown : undefined
  }
}
