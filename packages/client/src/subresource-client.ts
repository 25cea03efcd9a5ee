import type { AnyKind, Infer } from '@kubewright/api'
import type { ApplyOptions, GetOptions, Key, PatchOptions, WriteOptions } from './call-options.ts'
import type { DynamicObject } from './dynamic-kind.ts'

/** The scale of a workload of any kind (autoscaling/v1 Scale). */
export interface ScaleObject {
  readonly apiVersion: 'autoscaling/v1'
  readonly kind: 'Scale'
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly resourceVersion?: string }
  readonly spec: { readonly replicas?: number }
  readonly status?: { readonly replicas: number; readonly selector?: string }
}

/** The read type of a subresource: the object itself for `status`, a Scale for `scale`. */
export type SubresourceRead<K extends AnyKind, N extends string> = N extends 'status'
  ? Infer<K>
  : N extends 'scale'
    ? ScaleObject
    : DynamicObject

/** Reads and writes one subresource of a kind. */
export interface SubresourceClient<K extends AnyKind, N extends string> {
  get(key: Key, options?: GetOptions): Promise<SubresourceRead<K, N>>
  /** Sends a POST request, as for `eviction`, `binding` and `token`. */
  create(key: Key, body: object, options?: WriteOptions): Promise<SubresourceRead<K, N>>
  /** Replaces the subresource of the object that the metadata of the body names. */
  update<B extends { readonly metadata: object }>(body: B, options?: WriteOptions): Promise<SubresourceRead<K, N>>
  /**
   * Patches it. A list of operations is a JSON patch, an object is a JSON merge patch unless the options specify
   * `strategic`.
   */
  patch(key: Key, patch: object | string, options?: PatchOptions): Promise<SubresourceRead<K, N>>
  /** Server-side apply of the fields of the subresource. */
  apply(key: Key, partial: object, options?: ApplyOptions): Promise<SubresourceRead<K, N>>
}
