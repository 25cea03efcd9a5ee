import { useState } from 'preact/hooks'
import type { ObjectName } from '../../src/wire/names.ts'
import type { ContainerView } from '../../src/wire/object-view.ts'
import { connection } from './connection.ts'
import { useShared } from './settings.ts'
import { text } from './text.ts'
import { useTopic } from './use-topic.ts'

/** Forwards ports of this machine to a pod. */
export function PortsView({
  name,
  containers,
}: {
  readonly name: ObjectName
  readonly containers: readonly ContainerView[]
}) {
  const { notify } = useShared()
  const declared = containers.flatMap(({ ports }) => ports)
  const [port, setPort] = useState(String(declared[0] ?? ''))
  const [localPort, setLocalPort] = useState('')
  const all = useTopic({ type: 'forwards' })?.forwards ?? []
  const forwards = all.filter(({ pod, namespace }) => pod === name.name && namespace === name.namespace)
  const start = async (): Promise<void> => {
    const ports = { port: Number(port), localPort: Number(localPort || 0) }
    const { error } = await connection.request({ type: 'forward', object: name, ...ports })
    if (error !== undefined) notify(error, true)
  }
  return (
    <>
      <form
        class="toolbar"
        onSubmit={(event) => {
          event.preventDefault()
          void start()
        }}
      >
        <label>
          {text('podPort')}{' '}
          <input
            type="number"
            min="1"
            max="65535"
            required
            list="declared-ports"
            value={port}
            onInput={({ currentTarget }) => setPort(currentTarget.value)}
          />
        </label>
        <label>
          {text('localPort')}{' '}
          <input
            type="number"
            min="0"
            max="65535"
            placeholder={text('anyPort')}
            value={localPort}
            onInput={({ currentTarget }) => setLocalPort(currentTarget.value)}
          />
        </label>
        <button type="submit" class="primary" disabled={port === ''}>
          {text('forward')}
        </button>
      </form>
      <datalist id="declared-ports">
        {declared.map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
      {forwards.length === 0 && <p class="quiet">{text('noForwards')}</p>}
      {forwards.map(({ id, port: target, localPort: local, problem }) => (
        <p key={id}>
          <a href={`http://127.0.0.1:${local}/`} target="_blank" rel="noreferrer">
            127.0.0.1:{local}
          </a>{' '}
          → {target}{' '}
          <button type="button" onClick={() => void connection.request({ type: 'stopForward', id })}>
            {text('stopForward')}
          </button>
          {problem && <span class="problem"> {problem}</span>}
        </p>
      ))}
    </>
  )
}
