import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { linkClone } from './link-clone.ts'
import { stepsOf } from './page-steps.ts'
import { runTutorial } from './run-tutorial.ts'

const root = join(import.meta.dirname, '..', '..')
const steps = stepsOf(readFileSync(join(root, 'README.md'), 'utf8'), 'Five minutes')

const hasKubectl = spawnSync('kubectl', ['version', '--client']).status === 0
if (!hasKubectl) console.log('The tutorial is not run: there is no kubectl on the PATH')

describe.skipIf(!hasKubectl)('the tutorial of the README', () => {
  let folder: string

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'kubewright-tutorial-'))
    linkClone(folder)
  })

  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  test('works as written', { timeout: 300_000 }, async () => {
    await runTutorial(steps, { page: 'README.md', folder })
  })
})
