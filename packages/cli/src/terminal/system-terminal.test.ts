import { VirtualClock } from '@kubewright/base'
import { describe, expect, test } from 'vitest'
import { systemTerminal } from './system-terminal.ts'

/** A terminal with its content: finished lines, and the line of the cursor. */
function screen(columns: number, env: Record<string, string> = {}) {
  const clock = new VirtualClock()
  let lines = ['']
  const write = (text: string): void => {
    for (const part of text.split(/(\r\u001B\[K|\n)/)) {
      if (part === '\n') lines.push('')
      else lines = [...lines.slice(0, -1), part === '\r\u001B[K' ? '' : lines.at(-1)! + part]
    }
  }
  const stream = { isTTY: true, columns, write }
  const { out, note, eraseKey, terminal } = systemTerminal({ stdout: stream, stderr: stream, env, clock })
  return { clock, out, note, eraseKey, terminal, write, shown: () => lines }
}

describe('systemTerminal()', () => {
  test('escapes control characters in results and notes', () => {
    const { out, note, shown } = screen(80)
    out('field a\u001B[2J: removed')
    note('invalid name "\u001B]0;title\u0007"')
    expect(shown()).toEqual(['field a\\u001b[2J: removed', 'invalid name "\\u001b]0;title\\u0007"', ''])
  })

  test('shows progress with the elapsed time below written lines, and clears it', async () => {
    const { clock, out, terminal, shown } = screen(40)
    terminal.progress!.show('Waiting for a')
    expect(shown()).toEqual([''])
    await clock.advance('1s')
    expect(shown()).toEqual([expect.stringMatching(/^. Waiting for a$/)])
    await clock.advance('2s')
    expect(shown()).toEqual([expect.stringMatching(/^. Waiting for a \(3s\)$/)])
    out('b created')
    expect(shown()).toEqual(['b created', ''])
    await clock.advance('1200ms')
    expect(shown()).toEqual(['b created', expect.stringMatching(/^. Waiting for a \(4s\)$/)])
    terminal.progress!.clear()
    await clock.advance('10s')
    expect(shown()).toEqual(['b created', ''])
  })

  test('cuts progress that is wider than the terminal', async () => {
    const { clock, terminal, shown } = screen(14)
    terminal.progress!.show('Waiting for something')
    await clock.advance('1s')
    expect(shown()).toEqual([expect.stringMatching(/^. Waiting …$/)])
  })

  test('erases the ^C of the terminal', () => {
    const { note, eraseKey, write, shown } = screen(40)
    write('^C')
    eraseKey()
    note('Stopping')
    expect(shown()).toEqual(['Stopping', ''])
  })

  test('wraps notes but not results', () => {
    const { out, note, shown } = screen(10)
    note('one two three')
    out('one two three')
    expect(shown()).toEqual(['one two', '  three', 'one two three', ''])
  })

  test('shows no progress if the output cannot be redrawn', () => {
    expect(screen(80, { TERM: 'dumb' }).terminal.progress).toBeUndefined()
    expect(screen(80, { CI: 'true' }).terminal.progress).toBeUndefined()
    const file = { write: () => undefined }
    const { terminal } = systemTerminal({ stdout: file, stderr: file, env: {}, clock: new VirtualClock() })
    expect(terminal).toMatchObject({ columns: undefined, progress: undefined })
  })
})
