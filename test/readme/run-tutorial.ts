import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { isLike, type Step } from './page-steps.ts'

const patience = 60_000

/** The reader's shell, without the variables that vitest adds: tutorials run vitest too. */
export const readersEnvironment = Object.fromEntries(
  Object.entries(process.env).filter(([name]) => !/^(VITEST|npm_|NODE_ENV|NODE_OPTIONS|KUBECONFIG)/.test(name)),
) as Record<string, string>

/** Where a tutorial is performed. */
export interface Reader {
  /** Name of the page in messages. */
  readonly page: string
  /** Folder in which the reader starts. A `cd` of a block applies to later blocks. */
  readonly folder: string
  readonly env?: Readonly<Record<string, string>>
}

/** Performs the steps of a tutorial. Rejects with the line of the page where something is not as written. */
export async function runTutorial(steps: readonly Step[], reader: Reader): Promise<void> {
  const shell = new Shell(reader)
  const background: Background[] = []
  let printed: string | undefined
  try {
    for (const step of steps) {
      const where = `${reader.page}:${step.line}`
      if (step.do === 'save') {
        const file = join(shell.folder, step.path)
        mkdirSync(dirname(file), { recursive: true })
        writeFileSync(file, step.text)
        printed = undefined
      } else if (step.do === 'start') {
        // The same command again: the page asks the reader to stop the first one.
        await background.find(({ text }) => text === step.text)?.stop()
        background.push(new Background(step.text, shell.folder, shell.env))
        printed = undefined
      } else if (step.do === 'run') {
        const { code, output } = await shell.run(step.text)
        if ((code === 0) === step.fails) {
          const others = background.map(({ lines }) => lines.join('\n')).join('\n')
          throw new Error(`${where}: exit code ${code} of ${step.text}\n${output}\n${others}`)
        }
        printed = output
      } else if (printed === undefined) {
        for (const line of step.lines) {
          await background.at(-1)!.until((one) => isLike(line, one), `${where}: "${line}"`)
        }
      } else if (!isAsWritten(step.lines, printed)) {
        throw new Error(`${where}: the output was\n${printed}`)
      }
    }
  } finally {
    for (const process of background.reverse()) await process.stop()
  }
}

/** Whether an output consists of the lines of a page. A line `…` stands for any number of lines. */
function isAsWritten(written: readonly string[], output: string): boolean {
  const lines = output.trimEnd().split('\n')
  const matches = (i: number, j: number): boolean => {
    if (i === written.length) return j === lines.length
    if (written[i] === '…') return matches(i + 1, j) || (j < lines.length && matches(i, j + 1))
    return j < lines.length && isLike(written[i]!, lines[j]!) && matches(i + 1, j + 1)
  }
  return matches(0, 0)
}

/** Runs blocks in a shell that keeps the exported variables and the folder of earlier blocks. */
class Shell {
  readonly env: Record<string, string>
  readonly #state: string
  folder: string

  constructor({ folder, env = {} }: Reader) {
    this.folder = folder
    this.env = { ...readersEnvironment, ...env }
    this.#state = join(folder, '.exports')
  }

  async run(text: string): Promise<{ code: number; output: string }> {
    const restore = `[ ! -f ${this.#state} ] || . ${this.#state}`
    const script = `set -eo pipefail; ${restore}\n${text}\nexport -p > ${this.#state}; pwd > ${this.#state}.pwd\n`
    const child = spawn('bash', ['-c', script], { cwd: this.folder, env: this.env, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => (output += chunk.toString()))
    }
    const [code] = await once(child, 'close')
    if (code === 0) {
      this.folder = readFileSync(`${this.#state}.pwd`, 'utf8').trim()
    }
    return { code: code as number, output }
  }
}

/** A background process in its own terminal. */
class Background {
  readonly lines: string[] = []
  readonly text: string
  readonly #child: ChildProcess
  readonly #listeners = new Set<() => void>()
  #seen = 0

  constructor(text: string, folder: string, env: Record<string, string>) {
    const child = spawn('bash', ['-c', text], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
    this.text = text
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
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const closed = once(this.#child, 'close').then(() => true)
    // Signal the whole process group, as Ctrl-C does.
    process.kill(-this.#child.pid!, 'SIGINT')
    const waited = new Promise<false>((resolve) => setTimeout(() => resolve(false), patience).unref())
    if (await Promise.race([closed, waited])) return
    process.kill(-this.#child.pid!, 'SIGKILL')
    throw new Error(`${this.text.trim()} did not stop after SIGINT; its output was\n${this.lines.join('\n')}`)
  }
}
