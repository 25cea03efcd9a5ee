import type { ApiResponse } from '@kubewright/api'
import type { Awaitable } from '@kubewright/base'
import type { RequestContext } from './request-context.ts'

/**
 * Wraps the handling of every authenticated request. A filter may respond itself without calling `next`, or call `next` once and change
 * its response or error.
 */
export type RequestFilter = (context: RequestContext, next: () => Awaitable<ApiResponse>) => Awaitable<ApiResponse>
