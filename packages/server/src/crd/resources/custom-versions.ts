import { parseGroupVersion } from '@kubewright/api'
import { compileSchema, decodeObjectMeta, type JSONSchemaProps, type StructuralSchema } from '@kubewright/schema'
import type { MutableMeta, MutableObject } from '../../resource/object.ts'
import type { Crd, CrdVersion } from '../definitions/crd.ts'

/** How strictly an object is brought into form. */
export interface TreatOptions {
  /** Tell the fields that are dropped. */
  readonly report: boolean
  /** Drop metadata of the wrong type, as for what was stored long ago, instead of failing. */
  readonly dropInvalid: boolean
}

/** A version of a custom resource, compiled when first used. */
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

  get schema(): StructuralSchema {
    return (this.#schema ??= compileSchema(this.json ?? nothing))
  }
}

/** What a version that is not defined keeps of an object: its metadata. */
const nothing: JSONSchemaProps = { type: 'object' }

/** All versions of a custom resource, and what the API server does to its objects whenever it meets them. */
export class CustomVersions {
  readonly group: string
  readonly kind: string
  readonly storage: CustomVersion
  /** By apiVersion. */
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
    if (!storage) throw new Error(`CustomResourceDefinition ${this.kind} has no storage version`)
    this.storage = storage
  }

  /**
   * Brings an object into form, in place, by the schema of the version that it says it has: decodes its metadata, drops what the schema
   * does not know and nulls that it does not allow. Returns the paths of fields that were dropped. Throws an Error for malformed
   * metadata. Objects of another kind keep everything: they will be refused later.
   */
  treat(object: MutableObject, { report, dropInvalid }: TreatOptions): readonly string[] {
    const unknown: string[] = []
    let meta: MutableMeta = {}
    if (object.metadata !== undefined) {
      const decoded = decodeObjectMeta(object.metadata, dropInvalid)
      if (decoded.error !== undefined) throw new Error(decoded.error)
      for (const path of decoded.unknown) unknown.push(`metadata.${path}`)
      meta = decoded.meta
    }
    const schema = this.#schemaOf(object)
    if (schema) {
      if (!this.#preserves) {
        if (report) unknown.push(...schema.prune(object))
        else schema.pruneSilently(object)
        schema.dropNulls(object)
      }
      const coerced = schema.coerceMetadata(object, { dropInvalid })
      if (coerced.error) throw new Error(coerced.error.toString())
      unknown.push(...coerced.unknown)
    }
    object.metadata = meta
    return unknown
  }

  /** Fills in the defaults of the version that the object says it has. */
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
