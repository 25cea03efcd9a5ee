import { newBadRequest, newInvalid, parseUintProblem } from '@kubewright/api'
import { goQuote } from '@kubewright/base'
import { type FieldError, FieldPath, forbidden, notSupported } from '@kubewright/schema'
import { isTrue } from '../../request/request-info.ts'
import { integerParameter } from '../../request/write-options.ts'
import type { Resource } from '../../resource/resource.ts'
import { parseSelectors, type Selection, selectionOf } from './selection.ts'

/** The options of list and watch. */
export interface ListOptions {
  readonly limit: number
  readonly continueToken: string
  /** Empty when not given. */
  readonly resourceVersion: string
  readonly match: '' | 'Exact' | 'NotOlderThan'
  readonly timeoutSeconds: number | undefined
  readonly watch: boolean
  readonly allowBookmarks: boolean
  readonly sendInitialEvents: boolean | undefined
}

/** The options and selectors of a list, a watch or the deletion of a collection. */
export interface ListQuery<T> {
  readonly options: ListOptions
  readonly selection: Selection
  /** The result of the `negotiate` step. */
  readonly negotiated: T
}

/**
 * Reads the options and selectors of list, watch and deletecollection. Of several errors it throws the one that kube-apiserver reports:
 * malformed numbers and selectors (400), then invalid options (422), then the errors of `negotiate` (406), then unknown fields in the field
 * selector (400). As in handlers/get.go: ListResource.
 */
export function readListQuery<T>(
  resource: Resource,
  query: URLSearchParams,
  request: { readonly watch: boolean; readonly name?: string | undefined },
  negotiate: () => T,
): ListQuery<T> {
  const options = parseOptions(query, request.watch)
  const selectors = parseSelectors(query)
  const errors = request.watch ? watchErrors(options) : listErrors(options)
  if (errors.length > 0) throw newInvalid({ group: 'meta.k8s.io', kind: 'ListOptions' }, '', errors)
  const negotiated = negotiate()
  return { options, selection: selectionOf(resource, selectors, request.name), negotiated }
}

function parseOptions(query: URLSearchParams, watch: boolean): ListOptions {
  const timeoutSeconds = integerParameter(query, 'timeoutSeconds')
  const sendInitial = query.get('sendInitialEvents')
  return {
    // A negative limit counts as none.
    limit: Math.max(0, integerParameter(query, 'limit') ?? 0),
    continueToken: query.get('continue') ?? '',
    resourceVersion: query.get('resourceVersion') ?? '',
    match: (query.get('resourceVersionMatch') ?? '') as ListOptions['match'],
    timeoutSeconds,
    watch,
    allowBookmarks: isTrue(query.get('allowWatchBookmarks')),
    sendInitialEvents: sendInitial === null ? undefined : isTrue(sendInitial),
  }
}

const matchPath = FieldPath.of('resourceVersionMatch')

function listErrors(options: ListOptions): FieldError[] {
  const errors: FieldError[] = []
  const { match, resourceVersion, continueToken } = options
  if (match !== '') {
    if (resourceVersion === '') {
      errors.push(forbidden(matchPath, 'resourceVersionMatch is forbidden unless resourceVersion is provided'))
    }
    if (continueToken !== '') {
      errors.push(forbidden(matchPath, 'resourceVersionMatch is forbidden when continue is provided'))
    }
    if (match !== 'Exact' && match !== 'NotOlderThan') {
      errors.push(notSupported(matchPath, match, ['Exact', 'NotOlderThan', '']))
    }
    if (match === 'Exact' && resourceVersion === '0') {
      errors.push(forbidden(matchPath, 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'))
    }
  }
  if (options.sendInitialEvents !== undefined) {
    errors.push(forbidden(FieldPath.of('sendInitialEvents'), 'sendInitialEvents is forbidden for list'))
  }
  return errors
}

function watchErrors(options: ListOptions): FieldError[] {
  const errors: FieldError[] = []
  const { match, sendInitialEvents } = options
  if (sendInitialEvents !== undefined && match !== 'NotOlderThan') {
    errors.push(forbidden(matchPath, 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'))
  }
  if (match !== '') {
    if (sendInitialEvents === undefined) {
      errors.push(
        forbidden(matchPath, 'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided'),
      )
    }
    if (match !== 'NotOlderThan') errors.push(notSupported(matchPath, match, ['NotOlderThan']))
  }
  // A watch without a version counts as one that requested initial events by sendInitialEvents.
  const matches = match !== '' || (sendInitialEvents === undefined && ['', '0'].includes(options.resourceVersion))
  if (matches && options.continueToken !== '') {
    errors.push(forbidden(matchPath, 'resourceVersionMatch is forbidden when continue is provided'))
  }
  return errors
}

/** Parses a resource version of the query; throws a BadRequest when it is malformed. */
export function versionNumber(text: string): number {
  const problem = versionProblem(text)
  if (problem !== undefined) throw newBadRequest(`invalid resource version: ${problem}`)
  return Number(text)
}

/** The storage layer's error text for a malformed resource version; undefined when it is valid. */
export function versionProblem(text: string): string | undefined {
  const problem = parseUintProblem(text)
  return problem && `resourceVersion: Invalid value: ${goQuote(text)}: ${problem}`
}
