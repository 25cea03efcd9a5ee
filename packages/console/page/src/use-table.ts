import { useEffect, useState } from 'preact/hooks'
import type { Topic } from '../../src/wire/messages.ts'
import { connection } from './connection.ts'
import { emptyTable, type TableData, TableRows } from './table-rows.ts'

/** A table that is kept current. Updates between two frames are drawn together. */
export function useTable(topic: Extract<Topic, { type: 'table' }>): TableData {
  const [data, setData] = useState<TableData>(emptyTable)
  const key = JSON.stringify(topic)
  useEffect(() => {
    const rows = new TableRows()
    let frame = 0
    let latest = emptyTable
    setData(emptyTable)
    const stop = connection.follow(topic, (update) => {
      if (update.type !== 'table') return
      latest = rows.update(update)
      if (frame !== 0) return
      frame = requestAnimationFrame(() => {
        frame = 0
        setData(latest)
      })
    })
    return () => {
      stop()
      cancelAnimationFrame(frame)
    }
  }, [key])
  return data
}
