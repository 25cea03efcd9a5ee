import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nullLogger, systemClock } from '@kubewright/base'
import { expect, test } from 'vitest'
import { followFile } from './follow-file.ts'

test('followFile() reports new contents once, and again only on request', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'kubewright-follow-'))
  const path = join(folder, 'file.yaml')
  const seen: string[] = []
  let arrived = (): void => undefined
  const next = (): Promise<void> => new Promise((resolve) => (arrived = resolve))
  await writeFile(path, 'a')
  const follower = followFile(
    path,
    'a',
    async (text) => {
      if (text === '') return 'retry'
      seen.push(text)
      arrived()
      return 'done'
    },
    { clock: systemClock, log: nullLogger },
  )
  try {
    const first = next()
    await writeFile(path, 'b')
    await first
    const second = next()
    await writeFile(path, 'c')
    await second
    expect(seen).toEqual(['b', 'c'])
  } finally {
    await follower[Symbol.asyncDispose]()
    await rm(folder, { recursive: true, force: true })
  }
})
