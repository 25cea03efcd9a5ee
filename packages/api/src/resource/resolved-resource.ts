import type { JSONSchemaProps } from '@kubewright/schema'
import type { AnyKind, Scope } from '../kind.ts'
import type { Scale } from './resource-definition.ts'

/** A printer column with its type resolved, as in a CRD. */
export interface ResolvedColumn {
  readonly name: string
  readonly type: string
  readonly jsonPath: string
  readonly format?: string
  readonly description?: string
  readonly priority?: number
}

/** One version of a defined resource with defaults filled in. */
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

/** A defined resource with defaults filled in. */
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
  /** Whether versions may lose fields of each other, because the definition says `conversion: 'none'`. */
  readonly mayLoseFields: boolean
  readonly versions: readonly ResolvedVersion[]
}

const resources = new WeakMap<AnyKind, ResolvedResource>()

/** Associates a Kind with the resource it was created from. */
export function rememberResource(kind: AnyKind, resource: ResolvedResource): void {
  resources.set(kind, resource)
}

/** The resource that `defineResource` created a Kind from; undefined for other kinds, such as the built-in ones. */
export function resourceOf(kind: AnyKind): ResolvedResource | undefined {
  return resources.get(kind)
}
