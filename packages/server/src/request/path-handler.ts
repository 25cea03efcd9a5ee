import type { ApiResponse } from '@kubewright/api'
import type { Awaitable } from '@kubewright/base'
import type { RequestContext } from './request-context.ts'

/** Serves paths that belong to no resource, such as health and discovery. Returns undefined to pass the request on. */
export type PathHandler = (context: RequestContext) => Awaitable<ApiResponse | undefined>
