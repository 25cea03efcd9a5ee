import { useState } from 'preact/hooks'
import type { KindInfo } from '../../src/wire/names.ts'
import { Dialog } from './dialog.tsx'
import { usePull } from './lever-banner.tsx'
import { useShared } from './settings.ts'
import { text } from './text.ts'

const statuses = {
  403: 'Forbidden',
  409: 'Conflict',
  429: 'Too Many Requests',
  500: 'Internal Error',
  503: 'Service Unavailable',
  504: 'Timeout',
}

/** Fails the next writes of a kind, or cuts its watches. */
export function FaultDialog({ kind, onClose }: { readonly kind: KindInfo; readonly onClose: () => void }) {
  const { notify } = useShared()
  const pull = usePull()
  const [status, setStatus] = useState(500)
  const [count, setCount] = useState(1)
  const { group, version, plural } = kind
  const resource = { group, version, plural }
  const title = text('faultsOf', kind.kind)
  const fail = async (): Promise<void> => {
    await pull({ type: 'failWrites', resource, status, count })
    onClose()
  }
  const cut = async (): Promise<void> => {
    const number = await pull({ type: 'cutWatches', resource })
    if (number !== undefined) notify(text('watchesCut', number))
    onClose()
  }
  return (
    <Dialog label={title} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void fail()
        }}
      >
        <h2>{title}</h2>
        <p class="quiet">{text('faultsHint')}</p>
        <label>
          {text('writeCount')}{' '}
          <input
            type="number"
            min="1"
            max="1000"
            value={count}
            onInput={({ currentTarget }) => setCount(Number(currentTarget.value))}
          />
        </label>
        <label>
          {text('withStatus')}{' '}
          <select value={status} onChange={({ currentTarget }) => setStatus(Number(currentTarget.value))}>
            {Object.entries(statuses).map(([code, reason]) => (
              <option key={code} value={code}>
                {code} {reason}
              </option>
            ))}
          </select>
        </label>
        <div class="buttons">
          <button type="button" onClick={onClose}>
            {text('cancel')}
          </button>
          <button type="button" onClick={() => void cut()}>
            {text('cutWatches')}
          </button>
          <button type="submit" class="danger">
            {text('failWrites')}
          </button>
        </div>
      </form>
    </Dialog>
  )
}
