import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { s } from '@kubewright/schema'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { configFile } from './config-file.ts'

const flag = configFile(
  s.object({ region: s.enum('eu', 'us').default('eu'), retries: s.int({ minimum: 1 }).default(3) }),
  'Read the settings from this file',
)

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubewright-config-'))
})
afterEach(() => rm(folder, { recursive: true }))

async function parse(text: string) {
  const file = join(folder, 'config.yaml')
  await writeFile(file, text)
  return flag.parse(file, '--config')
}

describe('configFile()', () => {
  test('returns the content with defaults, typed', async () => {
    const { region, retries } = await parse('region: us\n')
    expect([region satisfies 'eu' | 'us', retries satisfies number]).toEqual(['us', 3])
    expect(await parse('')).toEqual({ region: 'eu', retries: 3 })
  })

  test.each([
    ['regio: us', 'has unknown fields: regio'],
    ['region: mars', 'region: Unsupported value: "mars"'],
    ['retries: 0', 'retries: Invalid value: 0'],
    ['a: [', 'cannot be read'],
  ])('refuses %j', async (text, message) => {
    await expect(parse(text)).rejects.toMatchObject({ code: 'KW_USAGE', message: expect.stringContaining(message) })
  })

  test('refuses a file that does not exist', () => {
    expect(() => flag.parse(join(folder, 'none.yaml'), '--config')).toThrow('none.yaml cannot be read')
  })
})
