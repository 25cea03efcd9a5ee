import { useEffect, useRef, useState } from 'preact/hooks'
import type { Topic } from '../../src/wire/messages.ts'
import { connection } from './connection.ts'
import { useShared } from './settings.ts'
import { emptyTable, type TableData, TableRows } from './table-rows.ts'

/** A table that is kept current. Updates between two frames are drawn together. */
export function useTable(topic: Extract<Topic, { type: 'table' }>): TableData {
  const { at } = useShared()
  const [data, setData] = useState<TableData>(emptyTable)
  const shown = useRef('')
  const key = JSON.stringify(topic)
  useEffect(() => {
    const rows = new TableRows()
    let frame = 0
    // Rows of another moment stay until those of the new one are complete, so that nothing flickers.
    const isSame = shown.current === key
    if (!isSame) setData(emptyTable)
    shown.current = key
    const stop = connection.follow({ ...topic, at }, (update) => {
      if (update.type !== 'table') return
      rows.update(update)
      if (frame !== 0 || (isSame && rows.state === 'loading')) return
      frame = requestAnimationFrame(() => {
        frame = 0
        setData(rows.take())
      })
    })
    return () => {
      stop()
      cancelAnimationFrame(frame)
    }
  }, [key, at])
  return data
}
