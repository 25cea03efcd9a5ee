import { useState } from 'preact/hooks'
import type { KindInfo } from '../../src/wire/names.ts'
import { Dialog } from './dialog.tsx'
import { go, type Route, routeHash, tableRoute } from './route.ts'
import { useShared } from './settings.ts'
import { matches } from './sidebar.tsx'
import { text } from './text.ts'
import { requestViewFocus } from './use-view-focus.ts'

const maxShown = 12

/** An entry of the list. */
interface Target {
  readonly name: string
  readonly about: string
  readonly route: Route
}

/** Finds a kind by its name or a short name, as in kubectl. */
export function Palette({ onClose }: { readonly onClose: () => void }) {
  const { kinds } = useShared()
  const [typed, setTyped] = useState('')
  const [selected, setSelected] = useState(0)
  const wanted = typed.trim().toLowerCase()
  const views: Target[] = (['operators', 'changes'] as const)
    .map((view) => ({ name: text(view), about: '', route: { view } }))
    .filter(({ name, route }) => name.toLowerCase().includes(wanted) || route.view.includes(wanted))
  const found = [
    // A list that nobody searches begins with the kinds, which are used most.
    ...(wanted === '' ? [] : views),
    ...kinds
      .filter((kind) => matches(kind, wanted))
      .sort((a, b) => Number(isExact(b, wanted)) - Number(isExact(a, wanted)))
      .map(targetOf),
  ].slice(0, maxShown)
  const open = (target: Target | undefined): void => {
    if (target === undefined) return
    if (routeHash(target.route) !== location.hash) requestViewFocus()
    go(target.route)
    onClose()
  }
  const onKey = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0
    if (step !== 0) setSelected(Math.max(0, Math.min(found.length - 1, selected + step)))
    else if (event.key === 'Enter') open(found[selected])
    else return
    event.preventDefault()
  }
  return (
    <Dialog label={text('palette')} onClose={onClose}>
      <input
        class="palette"
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={found[selected] && `palette-${selected}`}
        aria-label={text('paletteHint')}
        placeholder={text('paletteHint')}
        value={typed}
        onInput={({ currentTarget }) => {
          setTyped(currentTarget.value)
          setSelected(0)
        }}
        onKeyDown={onKey}
      />
      <div id="palette-list" role="listbox" aria-label={text('kinds')}>
        {found.map((target, index) => (
          <div
            key={routeHash(target.route)}
            id={`palette-${index}`}
            role="option"
            aria-selected={index === selected}
            class="option"
            onClick={() => open(target)}
          >
            {target.name} <small>{target.about}</small>
          </div>
        ))}
      </div>
      {found.length === 0 && <p class="quiet">{text('noKind')}</p>}
    </Dialog>
  )
}

function targetOf(kind: KindInfo): Target {
  const about = [kind.group, ...kind.shortNames].filter((name) => name !== '').join(' · ')
  return { name: kind.kind, about, route: tableRoute(kind) }
}

function isExact({ kind, plural, shortNames }: KindInfo, wanted: string): boolean {
  return kind.toLowerCase() === wanted || plural === wanted || shortNames.includes(wanted)
}
