import { useEffect, useRef, useState } from 'preact/hooks'
import type { Topic } from '../../src/wire/messages.ts'
import { connection } from './connection.ts'
import { useShared } from './settings.ts'
import { emptyTable, type TableData, TableRows } from './table-rows.ts'

/** A table that is kept current. Updates between two frames are drawn together. */
export function useTable(topic: Extract<Topic, { type: 'table' }>): TableData {
  const { at } = useShared()
  const [shown, setShown] = useState({ key: '', data: emptyTable })
  const latestKey = useRef('')
  const key = JSON.stringify(topic)
  useEffect(() => {
    const rows = new TableRows()
    let frame = 0
    // Rows of another moment stay until those of the new one are complete, so that nothing flickers.
    const isSame = latestKey.current === key
    latestKey.current = key
    const stop = connection.follow({ ...topic, at }, (update) => {
      if (update.type !== 'table') return
      rows.update(update)
      if (frame !== 0 || (isSame && rows.state === 'loading')) return
      frame = requestAnimationFrame(() => {
        frame = 0
        setShown({ key, data: rows.take() })
      })
    })
    return () => {
      stop()
      cancelAnimationFrame(frame)
    }
  }, [key, at])
  // Effects run after the page is drawn: the rows of the former topic must not be drawn as those of the new one.
  return shown.key === key ? shown.data : emptyTable
}
