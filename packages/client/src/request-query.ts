import { escapeFieldValue, type LabelSelectorLike, Selector, selectorFrom } from '@kubewright/api'
import type { ListOptions, WatchOptions, WriteOptions } from './call-options.ts'

/** The parameters of a list, without those of its pages. */
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

/** The parameters of a watch. */
export function watchQuery(options: WatchOptions): URLSearchParams {
  const query = listQuery(options)
  query.set('watch', 'true')
  if (options.bookmarks !== false) query.set('allowWatchBookmarks', 'true')
  if (options.sendInitialEvents !== undefined) {
    query.set('sendInitialEvents', String(options.sendInitialEvents))
    // The only match that servers accept with it, and one that they insist on.
    query.set('resourceVersionMatch', 'NotOlderThan')
  }
  if (options.timeoutSeconds !== undefined) query.set('timeoutSeconds', String(options.timeoutSeconds))
  return query
}

/** The parameters of a write; the defaults are those of the client. */
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
    // It prints as the empty text, which a server takes for everything.
    if (parsed.isNothing) throw new TypeError('Cannot send a selector that selects nothing: leave the call out instead')
    parts.push(parsed.toString())
  }
  return parts.filter((part) => part !== '').join(',')
}

function fieldSelectorText({ where = {}, fields = {}, fieldSelector = '' }: ListOptions): string {
  const parts: string[] = fieldSelector === '' ? [] : [fieldSelector]
  for (const [path, value] of [...Object.entries(where), ...Object.entries(fields)]) {
    // A field that is absent selects as the empty text.
    parts.push(`${path}=${value === undefined ? '' : escapeFieldValue(String(value))}`)
  }
  return parts.join(',')
}
