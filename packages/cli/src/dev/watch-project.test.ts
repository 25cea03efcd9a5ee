import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '@kubewright/base'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { watchProject } from './watch-project.ts'

let folder: string
let watching: Disposable
let next: () => Promise<readonly string[]>

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'kubewright-watch-'))
  for (const name of ['src', 'node_modules/x', '.git']) mkdirSync(join(folder, name), { recursive: true })
  writeFileSync(join(folder, 'src/a.ts'), '1')
  const waiting: ((files: readonly string[]) => void)[] = []
  const seen: (readonly string[])[] = []
  next = () =>
    new Promise((resolve) => {
      const first = seen.shift()
      if (first) resolve(first)
      else waiting.push(resolve)
    })
  watching = await watchProject({
    folders: [folder],
    clock: systemClock,
    onChange: (files) => {
      const one = waiting.shift()
      if (one) one(files)
      else seen.push(files)
    },
  })
})
afterEach(() => {
  watching[Symbol.dispose]()
  rmSync(folder, { recursive: true, force: true })
})

const write = (name: string, text: string): void => writeFileSync(join(folder, name), text)

describe('watchProject()', () => {
  test('reports changes after a moment of quiet, and ignores files that are not code', async () => {
    write('node_modules/x/index.js', '')
    write('.git/x.ts', '')
    write('src/a.test.ts', '')
    write('notes.md', '')
    mkdirSync(join(folder, 'grafana'))
    write('grafana/controller-metrics.json', '{}')
    write('src/a.ts', '22')
    write('src/a.ts', '333')
    write('src/b.ts', '')
    expect(await next()).toEqual(['src/a.ts', 'src/b.ts'])
  })

  test('reports replaced files and files of new folders', async () => {
    write('src/a.ts~', 'new')
    renameSync(join(folder, 'src/a.ts~'), join(folder, 'src/a.ts'))
    expect(await next()).toEqual(['src/a.ts'])
    mkdirSync(join(folder, 'src/deep'))
    write('src/deep/c.ts', '')
    expect(await next()).toEqual(['src/deep/c.ts'])
    write('src/deep/c.ts', 'more')
    expect(await next()).toEqual(['src/deep/c.ts'])
  })

  test('reports deleted files', async () => {
    rmSync(join(folder, 'src/a.ts'))
    expect(await next()).toEqual(['src/a.ts'])
  })
})
