import { useEffect, useRef, useState } from 'preact/hooks'
import type { ObjectName } from '../../src/wire/names.ts'
import type { ContainerView } from '../../src/wire/object-view.ts'
import { connection } from './connection.ts'
import { text } from './text.ts'
import { plainText } from './visible-text.ts'

// The oldest output beyond this is dropped.
const maxOutput = 256 * 1024

type End = { readonly exitCode?: number | undefined; readonly problem?: string | undefined }

/** Runs a command in a container of a pod: its output, and a line for its input. */
export function ExecView({
  name,
  containers,
}: {
  readonly name: ObjectName
  readonly containers: readonly ContainerView[]
}) {
  const [container = containers[0]?.name ?? '', setContainer] = useState<string>()
  const [command, setCommand] = useState('sh')
  const [terminal, setTerminal] = useState<string>()
  const [output, setOutput] = useState('')
  const [end, setEnd] = useState<End>()
  const [input, setInput] = useState('')
  const [problem, setProblem] = useState<string>()
  const line = useRef<HTMLInputElement>(null)
  const last = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (terminal === undefined) return undefined
    line.current?.focus()
    const unfollow = connection.follow({ type: 'terminal', terminal }, (update) => {
      if (update.type !== 'terminal') return
      setEnd(update.end)
      setOutput((old) => ((update.reset ? '' : old) + update.text).slice(-maxOutput))
    })
    return () => {
      unfollow()
      void connection.request({ type: 'endTerminal', terminal })
    }
  }, [terminal])
  useEffect(() => last.current?.scrollIntoView({ block: 'nearest' }), [output])
  const isRunning = terminal !== undefined && end === undefined
  const start = async (): Promise<void> => {
    setProblem(undefined)
    setOutput('')
    setEnd(undefined)
    const words = command.trim().split(/\s+/)
    const response = await connection.request({ type: 'exec', object: name, container, command: words })
    setProblem(response.error)
    setTerminal(response.terminal)
  }
  const send = async (): Promise<void> => {
    if (terminal === undefined) return
    setOutput((old) => `${old}❯ ${input}\n`)
    setInput('')
    const { error } = await connection.request({ type: 'input', terminal, text: `${input}\n` })
    setProblem(error)
  }
  return (
    <>
      <form
        class="toolbar"
        onSubmit={(event) => {
          event.preventDefault()
          if (isRunning) setTerminal(undefined)
          else void start()
        }}
      >
        <select
          aria-label={text('container')}
          value={container}
          disabled={isRunning}
          onChange={({ currentTarget }) => setContainer(currentTarget.value)}
        >
          {containers.map((one) => (
            <option key={one.name}>{one.name}</option>
          ))}
        </select>
        <input
          aria-label={text('command')}
          class="code"
          value={command}
          disabled={isRunning}
          onInput={({ currentTarget }) => setCommand(currentTarget.value)}
        />
        <button type="submit" class={isRunning ? undefined : 'primary'} disabled={command.trim() === ''}>
          {text(isRunning ? 'stopCommand' : 'runCommand')}
        </button>
      </form>
      {problem && <p class="problem">{problem}</p>}
      {terminal === undefined && !problem && <p class="quiet">{text('execHint')}</p>}
      {terminal !== undefined && (
        <pre class="log terminal" role="log" aria-label={text('output')}>
          {plainText(output)}
        </pre>
      )}
      {end && <p class="quiet">{end.problem ?? text('exited', end.exitCode ?? '')}</p>}
      {isRunning && (
        <form
          class="prompt"
          onSubmit={(event) => {
            event.preventDefault()
            void send()
          }}
        >
          <span aria-hidden="true">❯</span>
          <input
            ref={line}
            class="code"
            aria-label={text('input')}
            autocomplete="off"
            spellcheck={false}
            value={input}
            onInput={({ currentTarget }) => setInput(currentTarget.value)}
          />
        </form>
      )}
      <div ref={last} />
    </>
  )
}
