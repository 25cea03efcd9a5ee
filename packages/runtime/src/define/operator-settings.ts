import type { AnyKind, Infer, KubeObject } from '@kubewright/api'
import type { Client } from '@kubewright/client'
import type { KindCacheOptions, ObjectCacheOptions } from '../cluster/create-object-cache.ts'
import type { HttpRequest, HttpResponse } from '../serving/http/http-handler.ts'
import { type LabelSelection, selectorText } from './watched-kinds.ts'

/** Cache settings of an operator. They apply to every cluster that the manager creates. */
export interface OperatorCacheOptions
  extends Pick<ObjectCacheOptions, 'transform' | 'dropManagedFields' | 'resyncPeriod' | 'byKind'> {
  /**
   * The namespaces whose objects are watched and cached; reads of other namespaces go to the server. The flag
   * `--namespaces` overrides them. @default the `namespaces` of the operator
   */
  readonly namespaces?: readonly string[] | undefined
}

/** Options of {@link cached}. */
export interface CachedKindOptions<T extends KubeObject = KubeObject>
  extends Omit<KindCacheOptions, 'kind' | 'labelSelector' | 'transform'> {
  /** Caches only objects with matching labels. @default all objects */
  readonly selector?: LabelSelection | undefined
  /**
   * Changes objects before they are cached, for example to drop large fields, instead of the transform of the operator.
   * It may modify its argument and must be idempotent.
   */
  readonly transform?: ((object: T) => KubeObject) | undefined
}

/** Cache settings of one kind, for `cache.byKind` of an operator. */
export function cached<K extends AnyKind>(
  kind: K,
  options: CachedKindOptions<Infer<K> & KubeObject> = {},
): KindCacheOptions {
  const { selector, transform, ...others } = options
  return Object.freeze({
    ...others,
    kind,
    labelSelector: selectorText(selector),
    // The cache passes objects of this kind.
    transform: transform as KindCacheOptions['transform'],
  })
}

/** The context of an operator's health check. */
export interface CheckContext {
  /** Aborts when the check takes too long. */
  readonly signal: AbortSignal
  /** Reads from the cache where possible, as in a reconcile. */
  readonly client: Client
}

/** A health check: throws, or rejects, when the operator is unhealthy. The message is shown to people. */
export type OperatorCheck = (context: CheckContext) => void | Promise<void>

/** Health checks of an operator by name, besides those of the framework. */
export interface OperatorChecks {
  /** Served at `/healthz/<name>`: when one fails, the kubelet restarts the process. */
  readonly live?: Readonly<Record<string, OperatorCheck>> | undefined
  /** Served at `/readyz/<name>`: when one fails, the pod receives no traffic. */
  readonly ready?: Readonly<Record<string, OperatorCheck>> | undefined
}

/** A request to a path of the metrics server that the operator handles itself. */
export interface OperatorRequest extends HttpRequest {
  /** Reads from the cache where possible, as in a reconcile. */
  readonly client: Client
}

/**
 * Handles requests to a path of the metrics server. A string becomes a plain-text response with status 200. When a
 * handler throws, the client gets a 500 and the error is only logged.
 */
export type OperatorHandler = (request: OperatorRequest) => HttpResponse | string | Promise<HttpResponse | string>

/** Handlers by path. A path that ends with a slash includes all paths below it; the longest match wins. */
export type OperatorHandlers = Readonly<Record<string, OperatorHandler>>
