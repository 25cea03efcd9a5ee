import { useCallback, useEffect, useState } from 'preact/hooks'
import { ChangesPage } from './changes-page.tsx'
import { connection } from './connection.ts'
import { FailureBoundary } from './failure-boundary.tsx'
import { Header } from './header.tsx'
import { Help } from './help.tsx'
import { LeverBanner } from './lever-banner.tsx'
import { NewPage } from './new-page.tsx'
import { ObjectPage } from './object-page.tsx'
import { OperatorPage } from './operator-page.tsx'
import { Palette } from './palette.tsx'
import { go, parseRoute, routeHash, tableRoute, useRoute } from './route.ts'
import { findKind, type Shared, SharedContext } from './settings.ts'
import { Sidebar } from './sidebar.tsx'
import { StoryPage } from './story-page.tsx'
import { TablePage } from './table-page.tsx'
import { text } from './text.ts'
import { TimeBar } from './time-bar.tsx'
import { useShortcuts } from './use-shortcuts.ts'
import { useLink, useTopic } from './use-topic.ts'
import { focusView, useViewFocus } from './use-view-focus.ts'

type Overlay = 'palette' | 'help'

/** The frame of the page: header, kinds, and the current view. */
export function App() {
  const route = useRoute()
  useLink()
  const [namespace, setNamespace] = useState('')
  const [overlay, setOverlay] = useState<Overlay>()
  const [, setVersion] = useState(0)
  const [toast, setToast] = useState<{ text: string; isError: boolean }>()
  const [at, setAt] = useState<number>()
  // The context below is not in effect here, so that the kinds are those of the present.
  const kinds = useTopic({ type: 'kinds' })
  // Only recordings from files have stories. The time line of a live cluster would draw the page at every change.
  const marks = useTopic(connection.hello?.isRecording ? { type: 'timeline' } : undefined)?.timeline.marks
  const hasStory = marks && marks.length > 0
  const close = useCallback(() => setOverlay(undefined), [])
  useViewFocus(routeHash(route), route.view === 'start')
  useShortcuts({ palette: () => setOverlay('palette'), help: () => setOverlay('help') })
  useEffect(() => {
    if (toast === undefined) return undefined
    const timer = setTimeout(() => setToast(undefined), toast.isError ? 8000 : 3000)
    return () => clearTimeout(timer)
  }, [toast])
  // The first kind of the user's own is the best start.
  useEffect(() => {
    const { isRecording = false } = connection.hello ?? {}
    // The address, not the drawn route: the user may have followed a link since. A recording may tell a story.
    if (parseRoute(location.hash).view !== 'start' || (isRecording && hasStory === undefined)) return
    const first = kinds?.kinds.find(({ custom }) => custom) ?? findKind(kinds?.kinds ?? [], pods)
    if (isRecording && hasStory) go({ view: 'story' })
    else if (first !== undefined) go(tableRoute(first))
  }, [kinds, route.view, hasStory])
  const shared: Shared = {
    kinds: kinds?.kinds ?? [],
    // The past cannot be changed.
    readOnly: at !== undefined || (connection.hello?.readOnly ?? true),
    at,
    setAt,
    timeAt: useTimeAt(at),
    namespace,
    notify: (message, isError = false) => setToast({ text: message, isError }),
  }
  return (
    <SharedContext.Provider value={shared}>
      <button type="button" class="skip" onClick={focusView}>
        {text('skip')}
      </button>
      <Header
        namespace={namespace}
        onNamespace={setNamespace}
        onPalette={() => setOverlay('palette')}
        onHelp={() => setOverlay('help')}
        onRedraw={() => setVersion((version) => version + 1)}
      />
      <LeverBanner />
      <div class="body">
        <Sidebar route={route} problem={kinds?.problem} hasStory={hasStory ?? false} />
        <main class="view" id="view" tabIndex={-1}>
          <FailureBoundary place={routeHash(route)}>
            {route.view === 'table' && <TablePage key={JSON.stringify(route.resource)} route={route} />}
            {route.view === 'new' && <NewPage key={JSON.stringify(route.resource)} resource={route.resource} />}
            {route.view === 'object' && <ObjectPage key={JSON.stringify(route.object)} route={route} />}
            {route.view === 'operators' && <OperatorPage />}
            {route.view === 'changes' && <ChangesPage />}
            {route.view === 'story' && <StoryPage />}
            {route.view === 'start' && <p class="empty">{text(kinds === undefined ? 'loading' : 'start')}</p>}
          </FailureBoundary>
        </main>
      </div>
      <TimeBar />
      {overlay === 'palette' && <Palette onClose={close} />}
      {overlay === 'help' && <Help onClose={close} />}
      <div class="toasts" role="status" aria-live="polite">
        {toast && <p class={toast.isError ? 'toast bad' : 'toast'}>{toast.text}</p>}
      </div>
    </SharedContext.Provider>
  )
}

/** The time of a moment, in milliseconds since the epoch. */
function useTimeAt(at: number | undefined): number | undefined {
  const [time, setTime] = useState<number>()
  useEffect(() => {
    setTime(undefined)
    if (at === undefined) return undefined
    return connection.follow({ type: 'changes', limit: 1, at }, (update) => {
      if (update.type === 'changes') setTime(Date.parse(update.changes[0]?.time ?? '') || undefined)
    })
  }, [at])
  return time
}

const pods = { group: '', version: 'v1', plural: 'pods' }
