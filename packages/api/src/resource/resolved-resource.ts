import type { JSONSchemaProps } from '@kubewright/schema'
import type { AnyKind, Scope } from '../kind.ts'
import type { Scale } from './resource-definition.ts'

/** A column with everything known about it, as a CRD carries it. */
export interface ResolvedColumn {
  readonly name: string
  readonly type: string
  readonly jsonPath: string
  readonly format?: string
  readonly description?: string
  readonly priority?: number
}

/** One version of a defined resource, defaults filled in. */
export interface ResolvedVersion {
  readonly name: string
  readonly served: boolean
  readonly storage: boolean
  readonly deprecated: boolean | string
  readonly schema: JSONSchemaProps
  readonly columns: readonly ResolvedColumn[]
  readonly selectableFields: readonly string[]
  readonly hasStatus: boolean
  readonly scale?: Scale
}

/** A defined resource, defaults filled in. */
export interface ResolvedResource {
  readonly group: string
  readonly kind: string
  readonly scope: Scope
  readonly plural: string
  readonly singular: string
  readonly listKind: string
  readonly shortNames: readonly string[]
  readonly categories: readonly string[]
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
  readonly external: boolean
  readonly versions: readonly ResolvedVersion[]
}

const resources = new WeakMap<AnyKind, ResolvedResource>()

/** Ties a Kind to the resource that it was made from. */
export function rememberResource(kind: AnyKind, resource: ResolvedResource): void {
  resources.set(kind, resource)
}

/** The resource that a Kind was made from by `defineResource`; undefined for built-in kinds. */
export function resourceOf(kind: AnyKind): ResolvedResource | undefined {
  return resources.get(kind)
}
