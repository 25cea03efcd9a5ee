import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { UsageError } from '@kubewright/base'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { findEntry, findProgram } from './find-entry.ts'

let folder: string

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kubewright-entry-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function write(name: string, text = ''): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true })
  writeFileSync(join(folder, name), text)
}

describe('findEntry()', () => {
  test('accepts a file and finds its project', async () => {
    write('package.json', '{}')
    write('src/deep/x.ts')
    const entry = await findEntry('src/deep/x.ts', folder)
    expect(entry).toEqual({ file: join(folder, 'src/deep/x.ts'), project: folder, name: 'src/deep/x.ts' })
  })

  test('prefers the module that package.json names, then main.ts, then operator.ts', async () => {
    write('package.json', '{}')
    write('src/operator.ts')
    expect((await findEntry(undefined, folder)).name).toBe('src/operator.ts')
    write('src/main.ts')
    expect((await findEntry(undefined, folder)).name).toBe('src/main.ts')
    write('lib/it.js')
    write('package.json', '{"kubewright":{"operator":"./lib/it.js"}}')
    expect((await findEntry(undefined, folder)).name).toBe('lib/it.js')
  })

  test('accepts the folder of a project', async () => {
    write('one/package.json', '{}')
    write('one/src/main.ts')
    const entry = await findEntry('one', folder)
    expect(entry).toEqual({
      file: join(folder, 'one/src/main.ts'),
      project: join(folder, 'one'),
      name: 'one/src/main.ts',
    })
  })

  test('does not treat the root of a monorepo as the project', async () => {
    write('package.json', '{"workspaces":["packages/*"]}')
    write('examples/one/src/main.ts')
    expect((await findEntry('examples/one/src/main.ts', folder)).project).toBe(join(folder, 'examples/one'))
    expect((await findEntry('examples/one', folder)).project).toBe(join(folder, 'examples/one'))
  })

  test('does not treat the home directory as the project', async () => {
    write('package.json', '{}')
    write('one/src/main.ts')
    write('two/main.ts')
    expect((await findEntry('one/src/main.ts', folder, folder)).project).toBe(join(folder, 'one'))
    expect((await findEntry('two/main.ts', folder, folder)).project).toBe(join(folder, 'two'))
    expect((await findEntry('two/main.ts', folder)).project).toBe(folder)
  })

  test('lists the candidates in its error', async () => {
    await expect(findEntry(undefined, folder)).rejects.toThrow(/^no operator found in .*looked for src\/main\.ts, /)
    await expect(findEntry('x.ts', folder)).rejects.toThrow('x.ts does not exist: name the module of the operator')
    write('package.json', '{"kubewright":{"operator":"x.ts"}}')
    await expect(findEntry(undefined, folder)).rejects.toThrow('"kubewright.operator" names x.ts, which does not exist')
    write('package.json', '{')
    await expect(findEntry(undefined, folder)).rejects.toThrow(UsageError)
  })
})

describe('findProgram()', () => {
  test('prefers main.ts to the module that package.json names', async () => {
    write('package.json', '{"kubewright":{"operator":"src/operator.ts"}}')
    write('src/operator.ts')
    expect((await findProgram(undefined, folder)).name).toBe('src/operator.ts')
    write('src/main.ts')
    expect((await findProgram(undefined, folder)).name).toBe('src/main.ts')
    expect((await findEntry(undefined, folder)).name).toBe('src/operator.ts')
    expect((await findProgram('src/operator.ts', folder)).name).toBe('src/operator.ts')
  })
})
