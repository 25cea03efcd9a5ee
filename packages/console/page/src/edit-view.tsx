import { useEffect, useState } from 'preact/hooks'
import type { EditAction, PageResponse } from '../../src/wire/messages.ts'
import type { ObjectName } from '../../src/wire/names.ts'
import { connection } from './connection.ts'
import { DiffView } from './diff-view.tsx'
import { useShared } from './settings.ts'
import { text } from './text.ts'

/** Edits an object: the server shows the changes in a dry run before they are saved. */
export function EditView(props: {
  readonly name: ObjectName
  readonly masked: boolean
  readonly onReveal: (reveal: boolean) => void
}) {
  const { name, masked } = props
  const { notify } = useShared()
  const [source, setSource] = useState<string>()
  const [yaml, setYaml] = useState('')
  const [mode, setMode] = useState<EditAction['mode']>('apply')
  const [force, setForce] = useState(false)
  const [answer, setAnswer] = useState<PageResponse>()
  const load = async (): Promise<void> => {
    const { yaml: loaded, error } = await connection.request({ type: 'source', object: name })
    setAnswer(error === undefined ? undefined : { error })
    setForce(false)
    if (loaded === undefined) return
    setSource(loaded)
    setYaml(loaded)
  }
  useEffect(() => {
    if (!masked) void load()
  }, [masked])
  const send = async (dryRun: boolean, isForced = force): Promise<void> => {
    const action = { type: 'edit', object: name, source: source ?? '', yaml, mode, force: isForced, dryRun } as const
    const response = await connection.request(action)
    setAnswer(response)
    if (dryRun || response.error !== undefined) return
    notify(text('saved'))
    await load()
  }
  if (masked)
    return (
      <p class="notice">
        {text('masked')}{' '}
        <button type="button" onClick={() => props.onReveal(true)}>
          {text('reveal')}
        </button>
      </p>
    )
  if (source === undefined) return <p class="empty">{answer?.error ?? text('loading')}</p>
  const conflicts = answer?.conflicts ?? []
  const hasConflicts = conflicts.length > 0
  const isReviewed = answer?.diff !== undefined && answer.diff.length > 0
  return (
    <div class="edit">
      <textarea
        aria-label={text('yaml')}
        spellcheck={false}
        value={yaml}
        onInput={({ currentTarget }) => {
          setYaml(currentTarget.value)
          setAnswer(undefined)
        }}
      />
      <div class="edit-side">
        <label>
          {text('editMode')}{' '}
          <select
            value={mode}
            onChange={({ currentTarget }) => {
              setMode(currentTarget.value as EditAction['mode'])
              setAnswer(undefined)
            }}
          >
            <option value="apply">{text('editApply')}</option>
            <option value="replace">{text('editReplace')}</option>
          </select>
        </label>
        <div class="buttons">
          <button type="button" class="primary" disabled={yaml === source} onClick={() => void send(true)}>
            {text('review')}
          </button>
          <button type="button" disabled={!isReviewed} onClick={() => void send(false)}>
            {text('save')}
          </button>
          <button type="button" onClick={() => void load()}>
            {text('reload')}
          </button>
        </div>
        <div role="status">
          {answer?.error && !hasConflicts && <p class="problem">{answer.error}</p>}
          {hasConflicts && (
            <>
              <p class="problem">{text('conflict')}</p>
              <ul>
                {conflicts.map(({ field, message }) => (
                  <li key={`${field} ${message}`}>
                    <code>{field}</code>: {message}
                  </li>
                ))}
              </ul>
              <button
                type="button"
                onClick={() => {
                  setForce(true)
                  void send(true, true)
                }}
              >
                {text('force')}
              </button>
            </>
          )}
          {answer?.diff?.length === 0 && <p class="quiet">{text('noChanges')}</p>}
        </div>
        {answer?.diff && <DiffView lines={answer.diff} />}
      </div>
    </div>
  )
}
