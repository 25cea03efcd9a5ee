import { useEffect, useState } from 'preact/hooks'
import { AccessView } from './access-view.tsx'
import { connection } from './connection.ts'
import { EditView } from './edit-view.tsx'
import { EventsView } from './events-view.tsx'
import { ExecView } from './exec-view.tsx'
import { FeedStatus } from './feed-status.tsx'
import { FormView } from './form-view.tsx'
import { GraphView } from './graph-view.tsx'
import { HistoryView } from './history-view.tsx'
import { LogsView } from './logs-view.tsx'
import { ObjectActions } from './object-actions.tsx'
import { PortsView } from './ports-view.tsx'
import { go, type ObjectTab, objectRoute, objectTabs, type Route, routeHash, tableRoute } from './route.ts'
import { findKind, useShared } from './settings.ts'
import { SummaryView } from './summary-view.tsx'
import { text } from './text.ts'
import { isTyping } from './use-shortcuts.ts'
import { useTopic } from './use-topic.ts'
import { YamlView } from './yaml-view.tsx'

/** Arrow keys move between the tabs, as in all tab lists. */
function moveTab(event: KeyboardEvent): void {
  const tabs = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>('[role=tab]')]
  const index = tabs.indexOf(event.target as HTMLElement)
  const moves: Readonly<Record<string, number>> = {
    ArrowRight: (index + 1) % tabs.length,
    ArrowLeft: (index + tabs.length - 1) % tabs.length,
    Home: 0,
    End: tabs.length - 1,
  }
  const to = tabs[moves[event.key] ?? -1]
  if (to === undefined) return
  event.preventDefault()
  event.stopPropagation()
  to.focus()
  to.click()
}

type ObjectRoute = Extract<Route, { view: 'object' }>

/** Everything about one object. */
export function ObjectPage({ route }: { readonly route: ObjectRoute }) {
  const { object: name, tab } = route
  const { kinds, readOnly, at } = useShared()
  const kind = findKind(kinds, name.resource)
  const [reveal, setReveal] = useState(false)
  const followed = useTopic({ type: 'object', object: name, reveal })
  const object = followed?.object ?? undefined
  const [wasSeen, setSeen] = useState(false)
  useEffect(() => {
    if (object !== undefined) setSeen(true)
  }, [object])
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (isTyping(event) || event.ctrlKey || event.metaKey || document.querySelector('dialog') !== null) return
      if (event.key === 'Escape') go(tableRoute(name.resource))
      else if (event.key === 'y') go(objectRoute(name, 'yaml'))
      else if (event.key === 'e') go(objectRoute(name, 'edit'))
    }
    addEventListener('keydown', onKey)
    return () => removeEventListener('keydown', onKey)
  }, [JSON.stringify(name)])
  const unavailable = new Set<ObjectTab>(object?.containers === undefined ? ['logs', 'exec', 'ports'] : [])
  if (readOnly) unavailable.add('edit').add('form').add('exec').add('ports')
  // A Secret's values are base64, which a form does not help with.
  if (object?.masked) unavailable.add('form')
  // The permissions of the past are not known.
  if (at !== undefined || connection.hello?.isRecording) unavailable.add('access')
  const isGone = followed?.state === 'live' && object === undefined
  return (
    <>
      <div class="toolbar">
        <h1>
          <a href={routeHash(tableRoute(name.resource))}>{kind?.kind ?? name.resource.plural}</a>
          <span class="quiet"> / {name.namespace === undefined ? '' : `${name.namespace} / `}</span>
          {name.name}
        </h1>
        <span class="grow" />
        {followed && <FeedStatus state={followed.state} problem={followed.problem} />}
        {object && !readOnly && <ObjectActions name={name} object={object} kind={kind} />}
      </div>
      <div class="tabs" role="tablist" aria-label={name.name} onKeyDown={moveTab}>
        {objectTabs
          .filter((one) => !unavailable.has(one))
          .map((one) => (
            <button
              key={one}
              type="button"
              role="tab"
              id={`tab-${one}`}
              aria-selected={one === tab}
              tabIndex={one === tab ? 0 : -1}
              data-start={one === tab ? true : undefined}
              aria-controls="panel"
              onClick={() => go(objectRoute(name, one))}
            >
              {text(one)}
            </button>
          ))}
      </div>
      <div class="panel" id="panel" role="tabpanel" aria-labelledby={`tab-${tab}`} tabIndex={0}>
        {isGone && <p class="notice">{text(wasSeen ? 'deletedNow' : 'notFound')}</p>}
        {object && tab === 'summary' && <SummaryView object={object} />}
        {object && tab === 'yaml' && <YamlView object={object} reveal={reveal} onReveal={setReveal} />}
        {object && tab === 'events' && <EventsView object={object} />}
        {tab === 'graph' && <GraphView name={name} />}
        {object?.containers && tab === 'logs' && <LogsView name={name} containers={object.containers} />}
        {object?.containers && tab === 'exec' && !readOnly && <ExecView name={name} containers={object.containers} />}
        {object?.containers && tab === 'ports' && !readOnly && <PortsView name={name} containers={object.containers} />}
        {tab === 'access' && !unavailable.has(tab) && <AccessView name={name} />}
        {tab === 'history' && <HistoryView name={name} />}
        {object && kind && tab === 'form' && !unavailable.has(tab) && <FormView kind={kind} name={name} />}
        {object && tab === 'edit' && !readOnly && <EditView name={name} masked={object.masked} onReveal={setReveal} />}
      </div>
    </>
  )
}
