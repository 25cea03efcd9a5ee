import { useEffect, useState } from 'preact/hooks'
import type { ObjectName, ResourceName } from '../../src/wire/names.ts'

/** What the page shows. The fragment of the address holds it, so that links and the back button work. */
export type Route =
  | {
      readonly view: 'table'
      readonly resource: ResourceName
      readonly labelSelector: string
      readonly fieldSelector: string
    }
  /** A form for a new object. */
  | { readonly view: 'new'; readonly resource: ResourceName }
  | { readonly view: 'object'; readonly object: ObjectName; readonly tab: ObjectTab }
  | { readonly view: 'operators' }
  | { readonly view: 'changes' }
  /** The steps of the story in a recording. */
  | { readonly view: 'story' }
  | { readonly view: 'start' }

/** The tabs of an object. */
export const objectTabs = [
  'summary',
  'yaml',
  'graph',
  'events',
  'logs',
  'exec',
  'ports',
  'history',
  'access',
  'form',
  'edit',
] as const
export type ObjectTab = (typeof objectTabs)[number]

const core = 'core'

export function parseRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?')
  const [view, group = '', version = '', plural = '', ...rest] = path.split('/').map(decoded)
  const resource = { group: group === core ? '' : group, version, plural }
  const parameters = new URLSearchParams(query)
  if (view === 'operators' || view === 'changes' || view === 'story') return { view }
  if (view === 'table' && plural !== '') {
    const [labelSelector = '', fieldSelector = ''] = ['labels', 'fields'].map((name) => parameters.get(name) ?? '')
    return { view, resource, labelSelector, fieldSelector }
  }
  if (view === 'new' && plural !== '') return { view, resource }
  const [namespace = '', name = ''] = rest
  if (view !== 'object' || name === '') return { view: 'start' }
  const tab = objectTabs.find((known) => known === parameters.get('tab')) ?? 'summary'
  return { view, object: { resource, name, namespace: namespace === '-' ? undefined : namespace }, tab }
}

/** A part of the address; as it is if its encoding is malformed, because links come from anywhere. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

export function routeHash(route: Route): string {
  if (!('resource' in route || 'object' in route)) return `#/${route.view}`
  const { group, version, plural } = route.view === 'object' ? route.object.resource : route.resource
  const parts: string[] = [route.view, group === '' ? core : group, version, plural]
  const query = new URLSearchParams()
  if (route.view === 'table') {
    if (route.labelSelector !== '') query.set('labels', route.labelSelector)
    if (route.fieldSelector !== '') query.set('fields', route.fieldSelector)
  } else if (route.view === 'object') {
    parts.push(route.object.namespace ?? '-', route.object.name)
    if (route.tab !== 'summary') query.set('tab', route.tab)
  }
  const text = query.toString()
  return `#/${parts.map(encodeURIComponent).join('/')}${text === '' ? '' : `?${text}`}`
}

export const tableRoute = (resource: ResourceName): Route => ({
  view: 'table',
  resource: { group: resource.group, version: resource.version, plural: resource.plural },
  labelSelector: '',
  fieldSelector: '',
})
export const objectRoute = (object: ObjectName, tab: ObjectTab = 'summary'): Route => ({ view: 'object', object, tab })

export function go(route: Route): void {
  location.hash = routeHash(route)
}

export function useRoute(): Route {
  const [hash, setHash] = useState(location.hash)
  useEffect(() => {
    const change = (): void => setHash(location.hash)
    addEventListener('hashchange', change)
    return () => removeEventListener('hashchange', change)
  }, [])
  return parseRoute(hash)
}
