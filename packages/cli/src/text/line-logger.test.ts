import { describe, expect, test } from 'vitest'
import { lineLogger } from '../text/line-logger.ts'

function logged(verbose: boolean): string[] {
  const lines: string[] = []
  const log = lineLogger((line) => lines.push(line), verbose)
  log.info('Started', { port: 3, name: 'x', millis: 16.117686999999933 })
  log.debug('Looked')
  log.error(new Error('no space'), 'Cannot write', { file: 'a' })
  log.error(new Error('no space'), 'Cannot write: no space')
  return lines
}

describe('lineLogger()', () => {
  test('writes one line for each record', () => {
    expect(logged(false)).toEqual([
      'Started port=3 name="x" millis=16.118',
      'Cannot write file="a" error="no space"',
      'Cannot write: no space',
    ])
  })

  test('writes debug records and stack traces if verbose', () => {
    const [, details, first] = logged(true)
    expect(details).toBe('Looked')
    expect(first).toMatch(/^Cannot write file="a" Error: no space\n +at /)
  })
})
