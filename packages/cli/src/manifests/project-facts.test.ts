import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { projectFacts, readIcon } from './project-facts.ts'

const folder = mkdtempSync(join(tmpdir(), 'kubewright-facts-'))
beforeAll(() => {
  writeFileSync(join(folder, 'package.json'), '{"kubewright":{"icon":"icon.SVG"}}')
  writeFileSync(join(folder, 'icon.SVG'), '<svg/>')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('readIcon()', () => {
  test('reads the file that package.json names', async () => {
    const { iconFile } = await projectFacts(folder)
    expect(await readIcon(folder, iconFile!)).toEqual({ mediatype: 'image/svg+xml', base64data: 'PHN2Zy8+' })
  })

  test('names the field if the file is missing or of an unsupported type', async () => {
    const field = '"kubewright": { "icon": FILE } in package.json'
    await expect(readIcon(folder, 'none.png')).rejects.toThrow(`${field} names none.png, which does not exist`)
    await expect(readIcon(folder, 'icon.ico')).rejects.toThrow(
      `${field} must be one of .svg, .png, .jpg, .jpeg, .gif, not "icon.ico"`,
    )
  })
})
