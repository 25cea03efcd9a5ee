import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { RotatingFile } from './rotating-file.ts'

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubewright-log-'))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

describe('RotatingFile', () => {
  test('appends to an existing file and renames it when a line does not fit', async () => {
    let now = Date.UTC(2030, 0, 2, 3, 4, 5, 6)
    const clock = { now: () => now }
    const path = join(folder, 'logs', 'audit.log')
    const limits = { maxBytes: 10, maxBackups: 2, maxAgeDays: 0 }
    new RotatingFile(path, limits, clock)[Symbol.dispose]()
    const file = new RotatingFile(path, limits, clock)
    for (const line of ['12345', '678', 'abcdef', 'g', 'hijklmnopqrst', 'u']) {
      file.write(line)
      now += 1000
    }
    file[Symbol.dispose]()
    expect((await readdir(join(folder, 'logs'))).sort()).toEqual([
      'audit-2030-01-02T03-04-09.006.log',
      'audit-2030-01-02T03-04-10.006.log',
      'audit.log',
    ])
    expect(await readFile(path, 'utf8')).toBe('u\n')
    expect(await readFile(join(folder, 'logs', 'audit-2030-01-02T03-04-10.006.log'), 'utf8')).toBe('hijklmnopqrst\n')
  })

  test('removes old files by age and leaves other files alone', async () => {
    const now = Date.UTC(2030, 0, 10)
    const path = join(folder, 'a.log')
    const other = join(folder, 'a-other.log')
    const old = join(folder, 'a-2030-01-01T00-00-00.000.log')
    for (const name of [other, old]) {
      new RotatingFile(name, { maxBytes: 1, maxBackups: 0, maxAgeDays: 0 }, { now: () => now })[Symbol.dispose]()
    }
    const file = new RotatingFile(path, { maxBytes: 1, maxBackups: 0, maxAgeDays: 5 }, { now: () => now })
    file.write('x')
    file.write('y')
    file[Symbol.dispose]()
    expect((await readdir(folder)).sort()).toEqual(['a-2030-01-10T00-00-00.000.log', 'a-other.log', 'a.log'])
  })

  test('starts a new file when the full one was removed, and keeps the open one when a rotation fails', async () => {
    const path = join(folder, 'logs', 'audit.log')
    const limits = { maxBytes: 4, maxBackups: 0, maxAgeDays: 0 }
    const file = new RotatingFile(path, limits, { now: () => 0 })
    file.write('one')
    await rm(path)
    file.write('two')
    expect(await readFile(path, 'utf8')).toBe('two\n')
    await rm(join(folder, 'logs'), { recursive: true })
    expect(() => file.write('three')).toThrow('ENOENT')
    await mkdir(join(folder, 'logs'))
    file.write('four')
    file[Symbol.dispose]()
    expect(await readFile(path, 'utf8')).toBe('four\n')
  })
})
