import { useState } from 'preact/hooks'
import { ChangeList } from './change-list.tsx'
import { changeText } from './change-text.ts'
import { text } from './text.ts'
import { useChanges } from './use-changes.ts'
import { useReconciles } from './use-reconciles.ts'

const limit = 200

/** The last changes of the cluster: what changed, who wrote it, and why. */
export function ChangesPage() {
  const changes = useChanges({ type: 'changes', limit })
  const reconciles = useReconciles()
  const [filter, setFilter] = useState('')
  const wanted = filter.toLowerCase()
  const shown = changes?.filter((change) => changeText(change).toLowerCase().includes(wanted))
  return (
    <div class="operators">
      <div class="toolbar">
        <h1>{text('changes')}</h1>
        <input
          type="search"
          data-filter
          aria-label={text('filterText')}
          placeholder={`${text('filterText')}  /`}
          value={filter}
          onInput={({ currentTarget }) => setFilter(currentTarget.value)}
        />
      </div>
      {shown === undefined ? (
        <p class="empty">{text('loading')}</p>
      ) : (
        <ChangeList changes={shown} reconciles={reconciles} isHistory={false} />
      )}
    </div>
  )
}
