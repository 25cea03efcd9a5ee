import { escapeFieldValue, type LabelSelectorLike, Selector, selectorFrom } from '@kubewright/api'
import type { ListOptions, WatchOptions, WriteOptions } from './call-options.ts'

/** The query parameters of a list, without pagination. */
export function listQuery(options: ListOptions): URLSearchParams {
  const query = new URLSearchParams()
  const labels = labelSelectorText(options)
  if (labels !== '') query.set('labelSelector', labels)
  const fields = fieldSelectorText(options)
  if (fields !== '') query.set('fieldSelector', fields)
  if (options.resourceVersion !== undefined) query.set('resourceVersion', options.resourceVersion)
  if (options.resourceVersionMatch !== undefined) query.set('resourceVersionMatch', options.resourceVersionMatch)
  return query
}

/** The query parameters of a page of a list. */
export function pageQuery(options: ListOptions, pageSize: number, token: string | undefined): URLSearchParams {
  const query = listQuery(options)
  if (pageSize > 0) query.set('limit', String(pageSize))
  if (token) continueFrom(query, token)
  return query
}

/** Changes the parameters to those of the page that a `continue` token refers to. */
export function continueFrom(query: URLSearchParams, token: string): void {
  // The token determines the version; servers reject a request with both.
  query.delete('resourceVersion')
  query.delete('resourceVersionMatch')
  query.set('continue', token)
}

/** The query parameters of a watch. */
export function watchQuery(options: WatchOptions): URLSearchParams {
  const query = listQuery(options)
  query.set('watch', 'true')
  if (options.bookmarks !== false) query.set('allowWatchBookmarks', 'true')
  if (options.sendInitialEvents !== undefined) {
    query.set('sendInitialEvents', String(options.sendInitialEvents))
    // Servers require this match with sendInitialEvents and accept no other.
    query.set('resourceVersionMatch', 'NotOlderThan')
  }
  if (options.timeoutSeconds !== undefined) query.set('timeoutSeconds', String(options.timeoutSeconds))
  return query
}

/** The query parameters of a write, with the defaults of the client. */
export function writeQuery(
  options: WriteOptions & { readonly force?: boolean | undefined },
  defaults: Pick<WriteOptions, 'dryRun' | 'fieldManager' | 'fieldValidation'>,
): URLSearchParams {
  const query = new URLSearchParams()
  const { dryRun = defaults.dryRun, fieldManager = defaults.fieldManager } = options
  const { fieldValidation = defaults.fieldValidation } = options
  if (dryRun) query.set('dryRun', 'All')
  if (fieldManager !== undefined) query.set('fieldManager', fieldManager)
  if (fieldValidation !== undefined) query.set('fieldValidation', fieldValidation)
  if (options.force) query.set('force', 'true')
  return query
}

function labelSelectorText({ labels, selector }: ListOptions): string {
  const parts: string[] = []
  if (labels !== undefined) parts.push(selectorFrom({ matchLabels: labels }).toString())
  if (typeof selector === 'string') parts.push(selector)
  else if (selector !== undefined) {
    const parsed = selector instanceof Selector ? selector : selectorFrom(selector as LabelSelectorLike)
    // Its string form is empty, which a server would treat as everything.
    if (parsed.isNothing) throw new TypeError('Cannot send a selector that selects nothing: skip the call instead')
    parts.push(parsed.toString())
  }
  return parts.filter((part) => part !== '').join(',')
}

function fieldSelectorText({ where = {}, fields = {}, fieldSelector = '' }: ListOptions): string {
  const parts: string[] = fieldSelector === '' ? [] : [fieldSelector]
  for (const [path, value] of [...Object.entries(where), ...Object.entries(fields)]) {
    // Servers treat an absent field as the empty string.
    parts.push(`${path}=${value === undefined ? '' : escapeFieldValue(String(value))}`)
  }
  return parts.join(',')
}
