import { createLogger } from '@kubewright/base'
import { expect, test } from 'vitest'
import { auditSink } from './audit-log.ts'

test('auditSink() reports lost lines once a minute instead of throwing, and writes again when it can', () => {
  let now = 0
  let isFull = true
  const written: string[] = []
  const file = {
    write(line: string): void {
      if (isFull) throw new Error('ENOSPC: no space left on device')
      written.push(line)
    },
  }
  const reports: string[] = []
  const write = auditSink(
    file,
    { now: () => now },
    createLogger({
      enabled: () => true,
      write: ({ values, ...rest }) =>
        reports.push(`lost=${values['lost']} ${'error' in rest ? String(rest.error) : ''}`),
    }),
  )
  write('a')
  write('b')
  now = 60_000
  write('c')
  isFull = false
  write('d')
  expect(written).toEqual(['d'])
  expect(reports).toEqual([expect.stringMatching(/lost=1 .*ENOSPC/), expect.stringContaining('lost=3 ')])
})
