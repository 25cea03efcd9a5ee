import { useEffect, useState } from 'preact/hooks'
import type { ObjectName } from '../../src/wire/names.ts'
import { ChangeList } from './change-list.tsx'
import { connection } from './connection.ts'
import { DiffView } from './diff-view.tsx'
import { text } from './text.ts'
import { useChanges } from './use-changes.ts'
import { useReconciles } from './use-reconciles.ts'

/** The recorded changes of one object. Two of them can be compared. */
export function HistoryView({ name }: { readonly name: ObjectName }) {
  const changes = useChanges({ type: 'history', object: name })
  const reconciles = useReconciles()
  const [chosen, setChosen] = useState<{ from?: number | undefined; to?: number | undefined }>({})
  const [diff, setDiff] = useState<readonly string[]>()
  const to = chosen.to ?? changes?.[0]?.number ?? 0
  const from = chosen.from ?? changes?.[1]?.number ?? 0
  useEffect(() => {
    let isCurrent = true
    void connection.request({ type: 'compare', object: name, from, to }).then((response) => {
      if (isCurrent) setDiff(response.diff)
    })
    return () => {
      isCurrent = false
    }
  }, [JSON.stringify(name), from, to])
  if (changes === undefined) return <p class="empty">{text('loading')}</p>
  const choose = (side: 'from' | 'to', moment: number): void => setChosen({ ...chosen, [side]: moment })
  return (
    <>
      {changes.length > 1 && diff && (
        <section class="compared" aria-label={text('compare')}>
          <h2>{text('compared', from, to)}</h2>
          {diff.length === 0 ? <p class="quiet">{text('noDifference')}</p> : <DiffView lines={diff} />}
        </section>
      )}
      <ChangeList changes={changes} reconciles={reconciles} isHistory compared={{ from, to, choose }} />
    </>
  )
}
