import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { makeFolder } from './make-folder.ts'

const root = mkdtempSync(join(tmpdir(), 'make-folder-'))
afterAll(() => rmSync(root, { recursive: true }))

describe('makeFolder()', () => {
  test('creates missing parents with mode 0700 and leaves existing ones unchanged', async () => {
    const folder = join(root, 'a', 'b', 'c')
    await makeFolder(folder)
    await makeFolder(folder)
    expect(statSync(folder).mode & 0o777).toBe(0o700)
    expect(statSync(join(root, 'a')).mode & 0o777).toBe(0o700)
  })

  test('succeeds when called twice concurrently', async () => {
    await Promise.all([makeFolder(join(root, 'x', 'y', '1')), makeFolder(join(root, 'x', 'y', '2'))])
    expect(statSync(join(root, 'x', 'y', '2')).isDirectory()).toBe(true)
  })

  test('rejects a file in the place of a folder', async () => {
    const file = join(root, 'file')
    writeFileSync(file, '')
    await expect(makeFolder(file)).rejects.toThrow(/^EEXIST/)
    await expect(makeFolder(join(file, 'x'))).rejects.toThrow(/^ENOTDIR/)
  })

  test.runIf(process.platform === 'linux')(
    'fails where a file system cannot contain folders (Linux only: /proc)',
    async () => {
      await expect(makeFolder('/proc/kubewright/data/store')).rejects.toThrow(
        "ENOENT: no such file or directory, mkdir '/proc/kubewright'",
      )
    },
  )
})
