import { useState } from 'preact/hooks'
import type { KindInfo } from '../../src/wire/names.ts'
import { Dialog } from './dialog.tsx'
import { go, tableRoute } from './route.ts'
import { useShared } from './settings.ts'
import { matches } from './sidebar.tsx'
import { text } from './text.ts'

const maxShown = 12

/** Finds a kind by its name or a short name, as in kubectl. */
export function Palette({ onClose }: { readonly onClose: () => void }) {
  const { kinds } = useShared()
  const [typed, setTyped] = useState('')
  const [selected, setSelected] = useState(0)
  const wanted = typed.trim().toLowerCase()
  const found = kinds
    .filter((kind) => matches(kind, wanted))
    .sort((a, b) => Number(isExact(b, wanted)) - Number(isExact(a, wanted)))
    .slice(0, maxShown)
  const open = (kind: KindInfo | undefined): void => {
    if (kind === undefined) return
    go(tableRoute(kind))
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
        {found.map((kind, index) => (
          <div
            key={`${kind.group}/${kind.plural}`}
            id={`palette-${index}`}
            role="option"
            aria-selected={index === selected}
            class="option"
            onClick={() => open(kind)}
          >
            {kind.kind} <small>{[kind.group, ...kind.shortNames].filter((name) => name !== '').join(' · ')}</small>
          </div>
        ))}
      </div>
    </Dialog>
  )
}

function isExact({ kind, plural, shortNames }: KindInfo, wanted: string): boolean {
  return kind.toLowerCase() === wanted || plural === wanted || shortNames.includes(wanted)
}
