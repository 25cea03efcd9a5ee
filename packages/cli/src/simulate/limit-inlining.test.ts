import { describe, expect, test } from 'vitest'
import { limitInlining } from './limit-inlining.ts'

function flagsOf(execArgv: readonly string[], nodeOptions?: string, node = '20.20.2'): string[] {
  const flags: string[] = []
  limitInlining({ execArgv, env: { NODE_OPTIONS: nodeOptions }, versions: { node } }, (flag) => flags.push(flag))
  return flags
}

describe('limitInlining()', () => {
  test('sets its flag on Node 20 only', () => {
    const [flag = ''] = flagsOf(['--enable-source-maps', '--conditions=x'], '--max-old-space-size=100')
    expect(flag).toMatch(/^--max-inlined-bytecode-size-cumulative=\d+$/)
    expect(flagsOf([], undefined, '22.1.0')).toEqual([])
    expect(flagsOf([], undefined, '24.1.0')).toEqual([])
  })

  test.each(['--no-opt', '--max_inlined_bytecode_size=100', '--no-turbo-inlining', '--maglev', '--jitless'])(
    'leaves the choice to %s',
    (flag) => {
      expect(flagsOf([flag])).toEqual([])
      expect(flagsOf([], `--enable-source-maps ${flag}`)).toEqual([])
    },
  )
})
