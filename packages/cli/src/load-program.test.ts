import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { codeCacheFolder, loadProgram } from './load-program.ts'

let folder: string
let program: string
let cache: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kubewright-program-'))
  program = join(folder, 'program.cjs')
  cache = join(folder, 'cache', 'code')
  write('one')
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

/** Writes a program in the form that the build gives it. */
function write(value: string): void {
  const body = `exports.value = () => '${value}'; exports.file = __filename; exports.sep = require('node:path').sep`
  writeFileSync(program, `(function (exports, require, module, __filename, __dirname) {${body}})`)
}

interface Program {
  readonly value: () => string
  readonly file: string
  readonly sep: string
}

const load = () => loadProgram<Program>(program, cache)!
/** Whether a load used compiled code of an earlier one. It runs the program in either case. */
const usesCache = (value = 'one'): boolean => {
  const { exports, save } = load()
  expect(exports.value()).toBe(value)
  return save === undefined
}
const cached = (): string => join(cache, readdirSync(cache)[0]!)

describe('loadProgram()', () => {
  test('runs the program as a CommonJS module', () => {
    const { exports } = load()
    expect([exports.value(), exports.file, ['/', '\\'].includes(exports.sep)]).toEqual(['one', program, true])
    expect(loadProgram(join(folder, 'missing.cjs'), cache)).toBeUndefined()
    expect(loadProgram<Program>(program, undefined)).toMatchObject({ save: undefined })
  })

  test('uses the compiled code of an earlier run, readable by the user only', () => {
    load().save?.()
    expect(usesCache()).toBe(true)
    expect(readdirSync(cache)).toEqual([expect.stringMatching(/^program\.cjs-v\d.*\.v8code$/)])
    if (process.getuid !== undefined) expect(modes(cache, cached())).toEqual([0o700, 0o600])
  })

  test('does not use the code of another program', () => {
    load().save?.()
    const first = readFileSync(cached())
    write('two')
    expect(usesCache('two')).toBe(false)
    load().save?.()
    // Not even under the name of the right one.
    for (const name of readdirSync(cache)) writeFileSync(join(cache, name), first)
    expect(usesCache('two')).toBe(false)
  })

  test('does not use damaged code', () => {
    load().save?.()
    const good = readFileSync(cached())
    for (const at of [0, 40, good.length - 1]) {
      const bad = Buffer.from(good)
      bad[at]! ^= 1
      writeFileSync(cached(), bad)
      expect(usesCache()).toBe(false)
    }
    for (const length of [0, 20, good.length - 1]) {
      writeFileSync(cached(), good.subarray(0, length))
      expect(usesCache()).toBe(false)
    }
    writeFileSync(cached(), good)
    expect(usesCache()).toBe(true)
  })

  test.skipIf(process.getuid === undefined)('does not use code that other users can write', () => {
    load().save?.()
    chmodSync(cached(), 0o620)
    expect(usesCache()).toBe(false)
    chmodSync(cached(), 0o600)
    chmodSync(cache, 0o702)
    expect(usesCache()).toBe(false)
    load().save?.()
    expect([usesCache(), modes(cache)]).toEqual([true, [0o700]])
  })

  test('runs the program when nothing can be saved', () => {
    writeFileSync(join(folder, 'cache'), 'not a folder')
    const { exports, save } = load()
    save?.()
    expect([exports.value(), usesCache()]).toEqual(['one', false])
  })

  test('keeps the code of the four latest programs', () => {
    for (const [age, value] of ['a', 'b', 'c', 'd', 'e'].entries()) {
      const earlier = new Set(existsSync(cache) ? readdirSync(cache) : [])
      write(value)
      load().save?.()
      const added = readdirSync(cache).filter((name) => !earlier.has(name))
      for (const name of added) utimesSync(join(cache, name), age, age)
    }
    expect(readdirSync(cache)).toHaveLength(4)
    write('a')
    expect(usesCache('a')).toBe(false)
    write('e')
    expect(usesCache('e')).toBe(true)
  })
})

describe('codeCacheFolder()', () => {
  test('is in the cache folder of the user', () => {
    expect(codeCacheFolder({ XDG_CACHE_HOME: '/cache' }, 'linux')).toBe(join('/cache', 'kubewright', 'code'))
    expect(codeCacheFolder({}, 'darwin')).toContain(join('Library', 'Caches', 'kubewright', 'code'))
    expect(codeCacheFolder({ LOCALAPPDATA: 'C:\\Local' }, 'win32')).toContain('kubewright')
  })

  test('is undefined when the compile cache of Node is disabled', () => {
    expect(codeCacheFolder({ NODE_DISABLE_COMPILE_CACHE: '1' }, 'linux')).toBeUndefined()
  })
})

function modes(...paths: string[]): number[] {
  return paths.map((path) => statSync(path).mode & 0o777)
}
