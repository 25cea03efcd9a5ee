import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { keepHeapSmall } from './keep-heap-small.ts'

function flagsOf(execArgv: readonly string[], nodeOptions?: string, node = '20.20.2'): string[] {
  const flags: string[] = []
  keepHeapSmall({ execArgv, env: { NODE_OPTIONS: nodeOptions }, versions: { node } }, (flag) => flags.push(flag))
  return flags
}

describe('keepHeapSmall()', () => {
  test('leaves the choice to flags of the user', () => {
    expect(flagsOf([])).toHaveLength(2)
    expect(flagsOf(['--enable-source-maps', '--conditions=x'], '--max-old-space-size=100')).toHaveLength(2)
    for (const flag of [
      '--max-semi-space-size=16',
      '--min_semi_space_size=4',
      '--semi-space-growth-factor=2',
      '--heap-growing-percent=10',
      '--optimize-for-size',
      '--gc-interval=100',
    ]) {
      expect(flagsOf([flag])).toEqual([])
      expect(flagsOf([], `--enable-source-maps ${flag}`)).toEqual([])
    }
  })

  test('does nothing in an untested release of Node', () => {
    expect(flagsOf([], undefined, '24.1.0')).toHaveLength(2)
    expect(flagsOf([], undefined, '99.0.0')).toEqual([])
  })

  test('keeps the young generation small', () => {
    const module = fileURLToPath(new URL('keep-heap-small.ts', import.meta.url))
    const program = (start: string): string => `
      ${start}
      import { getHeapSpaceStatistics } from 'node:v8'
      let kept = []
      for (let i = 0; i < 3e6; i++) kept.length > 1e5 ? (kept = []) : kept.push({ i })
      console.log(getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space').space_size)`
    const young = (start: string): number => {
      const args = ['--import', 'tsx', '--input-type=module', '-e', program(start)]
      return Number(
        execFileSync(process.execPath, args, { encoding: 'utf8', env: { ...process.env, NODE_OPTIONS: '' } }),
      )
    }
    const small = young(`import { keepHeapSmall } from ${JSON.stringify(module)}; keepHeapSmall()`)
    expect(small).toBeLessThan(young('') / 2)
  })
})
