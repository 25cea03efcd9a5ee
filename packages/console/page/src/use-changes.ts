import { useEffect, useState } from 'preact/hooks'
import type { ChangeView } from '../../src/wire/change-view.ts'
import type { Topic } from '../../src/wire/messages.ts'
import { connection } from './connection.ts'
import { useShared } from './settings.ts'

// Every new change moves the others, so drawing them more often would only make them unreadable.
const drawMillis = 250

/** The changes of a topic, newest first, up to the moment that the page shows; undefined until they arrive. */
export function useChanges(topic: Extract<Topic, { type: 'changes' | 'history' }>): readonly ChangeView[] | undefined {
  const { at } = useShared()
  const [shown, setShown] = useState<{ subject: string; changes: readonly ChangeView[] }>()
  const subject = JSON.stringify(topic)
  useEffect(() => {
    let changes: readonly ChangeView[] = []
    let timer = 0
    const stop = connection.follow({ ...topic, at }, (update) => {
      if (update.type !== 'changes' && update.type !== 'history') return
      changes = update.reset ? update.changes : [...update.changes, ...changes].slice(0, update.limit)
      if (timer !== 0) return
      setShown({ subject, changes })
      const drawn = changes
      timer = setTimeout(() => {
        timer = 0
        if (changes !== drawn) setShown({ subject, changes })
      }, drawMillis)
    })
    return () => {
      stop()
      clearTimeout(timer)
    }
  }, [subject, at])
  // The changes up to another moment are shown until those of the new one arrive, so that nothing flickers.
  return shown?.subject === subject ? shown.changes : undefined
}
