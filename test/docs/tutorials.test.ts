// Performs every tutorial of the site as a reader would: saves its files, runs its commands and compares their output.
// Pages with `runs: project` start in an empty folder, with the packages as npm would install them; pages with
// `runs: clone` start in a clone of the repository. `needs` names a program without which a page is skipped.
// KUBEWRIGHT_TUTORIAL=home selects pages by a part of their path.
import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readPages } from '../../tools/site/page.ts'
import { linkClone } from '../readme/link-clone.ts'
import { stepsOfPage } from '../readme/page-steps.ts'
import { readersEnvironment, runTutorial } from '../readme/run-tutorial.ts'
import { installPacked } from '../scaffold/packed-modules.ts'

const docs = join(import.meta.dirname, '..', '..', 'docs')
const pages = readPages(docs)
const tutorials = pages.filter(({ fields, language }) => fields['runs'] !== undefined && language === 'en')
const only = process.env['KUBEWRIGHT_TUTORIAL']
const isInstalled = (program: string): boolean => spawnSync('bash', ['-c', `command -v ${program}`]).status === 0
const chosen = tutorials.filter(({ path, fields }) => {
  const { needs } = fields
  if (needs !== undefined && !isInstalled(needs)) {
    console.log(`docs/${path} is not run: ${needs} is not installed`)
    return false
  }
  return only === undefined || path.includes(only)
})

test('all pages of docs/tutorials are executed', () => {
  const missing = pages.filter(({ path, fields }) => path.startsWith('tutorials/') && fields['runs'] === undefined)
  expect(missing.map(({ path }) => path)).toEqual([])
})

const hasKubectl = spawnSync('kubectl', ['version', '--client']).status === 0
if (!hasKubectl) console.log('The tutorials are not run: there is no kubectl on the PATH')

describe.skipIf(!hasKubectl)('tutorials', () => {
  let parent: string

  beforeAll(async () => {
    parent = mkdtempSync(join(tmpdir(), 'kubewright-tutorials-'))
    await installPacked(join(parent, 'registry'))
    writeNpm(join(parent, 'bin'), join(parent, 'registry', 'node_modules'))
  }, 300_000)

  afterAll(() => rmSync(parent, { recursive: true, force: true }), 120_000)

  // Tutorials wait most of the time: for controllers, and for processes that start. Two of them run at the same time,
  // in folders and on ports of their own.
  const lanes = new Lanes(2)

  test.concurrent.each(chosen)('$path works as written', { timeout: 900_000 }, async ({ path, fields }) => {
    using _ = await lanes.enter()
    const folder = join(parent, path.replace(/\W+/g, '-'))
    mkdirSync(folder)
    if (fields['runs'] === 'clone') linkClone(folder)
    const search = [join(parent, 'bin'), process.env['PATH']].join(delimiter)
    const text = readFileSync(join(docs, path), 'utf8')
    await runTutorial(stepsOfPage(text), {
      page: `docs/${path}`,
      folder,
      env: { PATH: search, NO_COLOR: '1', NPM_CONFIG_LOGLEVEL: 'error' },
    })
  })
})

/** Limits how many tutorials run at the same time. */
class Lanes {
  readonly #waiting: (() => void)[] = []
  #free: number

  constructor(count: number) {
    this.#free = count
  }

  async enter(): Promise<Disposable> {
    if (this.#free > 0) this.#free--
    else await new Promise<void>((resolve) => this.#waiting.push(resolve))
    const leave = (): void => {
      const next = this.#waiting.shift()
      if (next === undefined) this.#free++
      else next()
    }
    return { [Symbol.dispose]: leave }
  }
}

/** A stand-in for npm without a network: `create` and `install` use the packed packages, all else is npm's own. */
function writeNpm(folder: string, modules: string): void {
  mkdirSync(folder)
  const real = execFileSync('bash', ['-c', 'command -v npm'], { env: readersEnvironment, encoding: 'utf8' }).trim()
  const create = join(modules, 'create-kubewright', 'bin', 'create-kubewright.js')
  const script = `#!/usr/bin/env bash
case "$1" in
  create) shift 2; args=(); for one in "$@"; do [ "$one" = -- ] || args+=("$one"); done; exec node ${create} "\${args[@]}" ;;
  install | ci) [ -e node_modules ] || ln -s ${modules} node_modules ;;
  *) exec ${real} "$@" ;;
esac
`
  writeFileSync(join(folder, 'npm'), script)
  chmodSync(join(folder, 'npm'), 0o755)
  // npx runs the program of the project, which takes npm almost a second to find.
  const npx = `#!/usr/bin/env bash
if [ -x "node_modules/.bin/$1" ]; then exec "node_modules/.bin/$@"; else exec ${real.replace(/npm$/, 'npx')} "$@"; fi
`
  writeFileSync(join(folder, 'npx'), npx)
  chmodSync(join(folder, 'npx'), 0o755)
}
