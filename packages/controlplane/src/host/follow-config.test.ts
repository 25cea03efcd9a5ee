import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLogger, systemClock } from '@kubewright/base'
import { expect, test } from 'vitest'
import { followConfig } from './follow-config.ts'

test('followConfig() ignores invalid contents, and retries contents that could not be applied', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'kubewright-follow-'))
  const path = join(folder, 'file.json')
  const messages: string[] = []
  const log = createLogger({ enabled: () => true, write: ({ message }) => void messages.push(message) })
  const applied: unknown[] = []
  let failures = 1
  await writeFile(path, '1')
  const follower = followConfig(
    'test',
    { path, text: '1', parse: (text) => JSON.parse(text) as unknown },
    (config) => {
      if (failures-- > 0) throw new Error('not now')
      applied.push(config)
    },
    { clock: systemClock, log },
  )
  const until = (part: string): Promise<void> =>
    expect.poll(() => messages.some((message) => message.includes(part)), { timeout: 60_000 }).toBe(true)
  try {
    await writeFile(path, '{')
    await until('not valid')
    expect(applied).toEqual([])
    await writeFile(path, '2')
    await until('retrying')
    await until('Reloaded the test configuration')
    expect(applied).toEqual([2])
  } finally {
    await follower[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  }
})
