import { PassThrough } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { InterruptedError } from './interrupted-error.ts'
import { Prompt } from './prompt.ts'

function terminal(): { prompt: Prompt; input: PassThrough; shown: () => string } {
  const input = new PassThrough()
  // readline treats it as a terminal.
  const output = Object.assign(new PassThrough(), { isTTY: true, columns: 80 })
  let shown = ''
  output.on('data', (data: Buffer) => (shown += data.toString()))
  return { prompt: new Prompt({ input, output }), input, shown: () => shown }
}

describe('Prompt', () => {
  test('resolves to the edited answer', async () => {
    const { prompt, input } = terminal()
    const answer = prompt.ask('Name: ')
    // The backspace after x deletes it.
    input.write('höx\u007Fme\r')
    expect(await answer).toBe('höme')
  })

  test('keeps answers that arrive before their questions', async () => {
    const { prompt, input } = terminal()
    const first = prompt.ask('Name: ')
    input.write('home\rexample.com\rn')
    expect(await first).toBe('home')
    expect(await prompt.ask('Domain: ')).toBe('example.com')
    const third = prompt.ask('Install? ')
    input.write('o\r')
    expect(await third).toBe('no')
  })

  test('rejects differently for Ctrl-C and for the end of the input', async () => {
    for (const [key, error] of [
      ['\u0003', InterruptedError],
      ['\u0004', /^no answer: the input ended/],
    ] as const) {
      const { prompt, input, shown } = terminal()
      const answer = prompt.ask('Name: ')
      input.write(key)
      await expect(answer).rejects.toThrow(error)
      expect(shown().endsWith('\n')).toBe(true)
    }
  })

  test('rejects when the signal aborts', async () => {
    const { prompt } = terminal()
    const stop = new AbortController()
    const answer = prompt.ask('Name: ', stop.signal)
    stop.abort()
    await expect(answer).rejects.toThrow(InterruptedError)
    await expect(prompt.ask('Name: ', stop.signal)).rejects.toThrow(InterruptedError)
  })
})
