import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '@kubewright/base'
import { afterAll, describe, expect, test } from 'vitest'
import { type LoadedOperator, loadOperator } from './load-operator.ts'

const folder = mkdtempSync(join(tmpdir(), 'kubewright-load-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

let count = 0
const made = `const make = (name) => ({ name, controllers: [], webhooks: [], conversions: [], runnables: [] });`

/** Loads code from a new file each time, because Node loads a module once. */
function load(code: string): Promise<LoadedOperator> {
  const name = `m${count++}.mjs`
  writeFileSync(join(folder, name), `${made}\n${code}`)
  return loadOperator({ file: join(folder, name), project: folder, name }, systemClock)
}

describe('loadOperator()', () => {
  test.each([
    ['the default export', `export default make('a')`],
    ['an export named operator', `export const operator = make('a'); export const other = make('b')`],
    ['the only operator', `export const homes = make('a'); export const size = 3`],
    ['the result of a function', `export default async () => make('a')`],
    [
      'the result of a function whose name ends with operator',
      `export const homeOperator = () => make('a'); export const no = () => 1`,
    ],
    ['the argument of run', `await globalThis[Symbol.for('kubewright.run')](make('a'), {})`],
    [
      'the argument of a later run',
      `Promise.resolve().then(() => globalThis[Symbol.for('kubewright.run')](make('a'), {}))`,
    ],
  ])('finds %s', async (_, code) => {
    expect((await load(code)).operator.name).toBe('a')
  })

  test('resolves the run of the program when the operator has ended', async () => {
    const shared = globalThis as { loadTest?: (text: string) => void }
    const went = new Promise<string>((resolve) => {
      shared.loadTest = resolve
    })
    const code = `await globalThis[Symbol.for('kubewright.run')](make('a'), { requestDetails: true }); loadTest('on')`
    const { options, ended } = await load(code)
    expect(options).toEqual({ requestDetails: true })
    ended()
    expect(await went).toBe('on')
  })

  test('lists the exports of a module without an operator', async () => {
    await expect(load('export const homeOperator = (dns) => make(dns); export const x = 1')).rejects.toThrow(
      /^m\d+\.mjs has no operator: .* \(it exports homeOperator, which needs arguments; x\)$/,
    )
  })

  test('passes on the errors of the module', async () => {
    await expect(load(`throw new Error('of the module')`)).rejects.toThrow('of the module')
  })
})
