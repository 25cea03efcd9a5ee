import { newBadRequest } from '@kubewright/api'
import type { RequestContext } from '../request/request-context.ts'
import type { MutableObject } from '../resource/object.ts'
import type { Subresource } from '../resource/subresource.ts'
import type { AdmissionChain } from './admission.ts'

/** How the options of a connection are read from the query. */
export interface ConnectOptions {
  /** Such as PodExecOptions. */
  readonly kind: string
  readonly fields: Readonly<Record<string, 'string' | 'strings' | 'boolean' | 'integers'>>
  /** Whether the options contain the path after the subresource. @default false */
  readonly path?: boolean | undefined
}

/** Runs admission for a connect request before its subresource handles it. Refuses dry runs, with any value of the parameter. */
export function withConnectAdmission(
  admission: AdmissionChain,
  name: string,
  options: ConnectOptions,
  subresource: Subresource,
): Subresource {
  const { handle } = subresource
  if (!handle) return subresource
  return {
    ...subresource,
    handle: async (context, resource) => {
      if (context.request.query.has('dryRun')) throw newBadRequest('dryRun is not supported')
      const attributes = {
        context,
        resource,
        subresource: name,
        operation: 'CONNECT' as const,
        namespace: context.info.namespace,
        name: context.info.name,
        dryRun: false,
        object: optionsOf(context, options) as MutableObject | undefined,
        old: undefined,
        options: {},
      }
      await admission.mutate(attributes)
      await admission.validate(attributes)
      return handle(context, resource)
    },
  }
}

/** The options as an object. Unlike every other object in admission they have no metadata. */
function optionsOf({ request, info }: RequestContext, { kind, fields, path }: ConnectOptions): MutableObject {
  const options: Record<string, unknown> = { kind, apiVersion: 'v1' }
  for (const [name, type] of Object.entries(fields)) {
    const values = request.query.getAll(name)
    if (values.length === 0) continue
    const first = values[0]!
    if (type === 'strings') options[name] = values
    else if (type === 'integers') options[name] = values.map(Number)
    else if (type === 'string') {
      if (first !== '') options[name] = first
    } else if (first !== '0' && first.toLowerCase() !== 'false') options[name] = true
  }
  const rest = path ? info.parts.slice(3).join('/') : ''
  if (rest !== '') options['path'] = `/${rest}${request.path.endsWith('/') ? '/' : ''}`
  return options as MutableObject
}
