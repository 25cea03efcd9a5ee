import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isLike, stepsOf } from './page-steps.ts'

const root = join(import.meta.dirname, '..', '..')
const steps = stepsOf(readFileSync(join(root, 'README.md'), 'utf8'), 'Five minutes')
const patience = 60_000

// The environment of the reader's shell, without the variables that vitest adds: the tutorial runs vitest too.
const env = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(VITEST|npm_|NODE_ENV|NODE_OPTIONS|KUBECONFIG)/.test(name)),
)

const hasKubectl = spawnSync('kubectl', ['version', '--client']).status === 0
if (!hasKubectl) console.log('The tutorial is not run: there is no kubectl on the PATH')

describe.skipIf(!hasKubectl)('the tutorial of the README', () => {
  let home: string
  let background: Background | undefined

  beforeAll(() => {
    // Simulates a clone.
    home = mkdtempSync(join(tmpdir(), 'kubewright-tutorial-'))
    for (const name of [
      'package.json',
      'node_modules',
      'packages',
      'tools',
      'vitest.config.ts',
      'tsconfig.base.json',
    ]) {
      symlinkSync(join(root, name), join(home, name))
    }
  })

  afterAll(async () => {
    await background?.stop()
    rmSync(home, { recursive: true, force: true })
  })

  test('works as written', { timeout: 300_000 }, async () => {
    let printed: string | undefined
    for (const step of steps) {
      const where = `README.md:${step.line}`
      if (step.do === 'save') {
        const file = join(home, step.path)
        mkdirSync(dirname(file), { recursive: true })
        writeFileSync(file, step.text)
        printed = undefined
      } else if (step.do === 'start') {
        background = new Background(step.text, home)
        printed = undefined
      } else if (step.do === 'run') {
        const { code, output } = await shell(step.text, home)
        expect(code === 0, `${where}: ${step.text}\n${output}\n${background?.lines.join('\n')}`).toBe(!step.fails)
        printed = output
      } else if (printed === undefined) {
        for (const line of step.lines) await background!.until((one) => isLike(line, one), `${where}: "${line}"`)
      } else {
        const lines = printed.trimEnd().split('\n')
        const isAsSaid = lines.length === step.lines.length && step.lines.every((line, i) => isLike(line, lines[i]!))
        expect(isAsSaid, `${where}: the output was\n${printed}`).toBe(true)
      }
    }
  })
})

/** Runs a block in a shell that keeps the exported variables of earlier blocks. */
async function shell(text: string, home: string): Promise<{ code: number; output: string }> {
  const state = join(home, '.exports')
  const script = `set -eo pipefail; [ ! -f ${state} ] || . ${state}\n${text}\nexport -p > ${state}\n`
  const child = spawn('bash', ['-c', script], { cwd: home, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const [code] = await once(child, 'close')
  return { code: code as number, output }
}

/** A background process in its own terminal. */
class Background {
  readonly lines: string[] = []
  readonly #child: ChildProcess
  readonly #listeners = new Set<() => void>()
  #seen = 0

  constructor(text: string, home: string) {
    const child = spawn('bash', ['-c', text], { cwd: home, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
    this.#child = child
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on('line', (line) => {
        this.lines.push(line)
        for (const listener of this.#listeners) listener()
      })
    }
  }

  /** Resolves when a matching line is printed after the lines of earlier waits. */
  until(isMeant: (line: string) => boolean, what: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = (): void => {
        clearTimeout(timer)
        this.#listeners.delete(look)
      }
      const look = (): void => {
        const found = this.lines.findIndex((line, i) => i >= this.#seen && isMeant(line))
        if (found < 0) return
        this.#seen = found + 1
        end()
        resolve()
      }
      const timer = setTimeout(() => {
        end()
        reject(new Error(`${what} was not printed; the output was\n${this.lines.join('\n')}`))
      }, patience)
      this.#listeners.add(look)
      look()
    })
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null) return
    const closed = once(this.#child, 'close')
    // Signal the whole process group, as Ctrl-C does.
    process.kill(-this.#child.pid!, 'SIGINT')
    await closed
  }
}
