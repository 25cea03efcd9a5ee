// The terminals that the documentation shows. `npm run pictures` records them again.
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TerminalLine } from './terminal-svg.ts'

/** A picture to make: its name, its description, and the commands that a reader sees. */
export interface Scene {
  /** The name of the file in `docs/pictures`, without `.svg`. */
  readonly name: string
  readonly title: string
  readonly commands: readonly string[]
  record(terminal: RecordingTerminal): Promise<void>
}

const root = join(import.meta.dirname, '..', '..')
const cli = [
  '--conditions=kubewright-source',
  '--import',
  'tsx',
  join(root, 'node_modules/@kubewright/cli/bin/kubewright.js'),
]

/** Collects the lines of the commands of a scene, with the time of each. */
export class RecordingTerminal {
  readonly lines: TerminalLine[] = []
  readonly folder = mkdtempSync(join(tmpdir(), 'kubewright-picture-'))
  readonly #started = Date.now()
  readonly #running = new Set<ChildProcess>()

  /** Adds a line that the user typed. */
  prompt(command: string): void {
    this.#add(`\u001b[2m$ \u001b[0m\u001b[1m${command}\u001b[0m`)
  }

  /** Adds an empty line. */
  gap(): void {
    this.#add('')
  }

  /** Runs a command to its end. Only lines that `shows` accepts are added. */
  async run(program: string, args: readonly string[], options: RunOptions = {}): Promise<void> {
    const child = this.#spawn(program, args, options)
    await new Promise((resolve) => child.once('close', resolve))
  }

  /** Starts a command that runs until {@link close}. Resolves when a line of it matches. */
  async start(program: string, args: readonly string[], until: RegExp, options: RunOptions = {}): Promise<void> {
    this.#spawn(program, args, options)
    await this.line(until)
  }

  /** Waits for a line, counted from the start. */
  async line(pattern: RegExp, limitMillis = 120_000): Promise<void> {
    const end = Date.now() + limitMillis
    while (!this.#seen.some((text) => pattern.test(text))) {
      if (Date.now() > end) throw new Error(`no line matches ${pattern}:\n${this.#seen.join('\n')}`)
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
  }

  readonly #seen: string[] = []

  /** Ends the commands that still run and deletes the folder. */
  async close(): Promise<void> {
    for (const child of this.#running) {
      const ended = new Promise((resolve) => child.once('close', resolve))
      child.kill('SIGINT')
      const impatient = setTimeout(() => child.kill('SIGKILL'), 10_000)
      await ended
      clearTimeout(impatient)
    }
    rmSync(this.folder, { recursive: true, force: true })
  }

  #spawn(program: string, args: readonly string[], options: RunOptions): ChildProcess {
    const { cwd = root, env = {}, shows = () => true } = options
    const child = spawn(program, args, { cwd, env: { ...process.env, FORCE_COLOR: '1', ...env } })
    this.#running.add(child)
    child.once('close', () => this.#running.delete(child))
    for (const stream of [child.stdout, child.stderr]) {
      let pending = ''
      stream.setEncoding('utf8')
      stream.on('data', (text: string) => {
        const parts = (pending + text).split('\n')
        pending = parts.pop() ?? ''
        for (const part of parts) {
          const line = part.replace(/.*\r(?!$)/, '').trimEnd()
          const plain = line.replace(/\u001b\[[\d;]*m/g, '')
          this.#seen.push(plain)
          if (shows(plain)) this.#add(line.replaceAll(root, '~/kubewright'))
        }
      })
    }
    return child
  }

  #add(text: string): void {
    this.lines.push({ text, at: Date.now() - this.#started })
  }
}

interface RunOptions {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  readonly shows?: (line: string) => boolean
}

const hidden = (): boolean => false

/** All pictures of terminals. */
export const scenes: readonly Scene[] = [
  {
    name: 'demo',
    title: 'The demo: the operator creates, scales and repairs a Home, and its webhook rejects an invalid change',
    commands: ['npm run demo'],
    async record(terminal) {
      let count = 0
      const shows = (): boolean => ++count <= 60
      await terminal.run('npm', ['run', '--silent', 'demo', '--', '--once'], { shows })
    },
  },
  {
    name: 'dev',
    title:
      'kubewright dev prints each reconcile with its cause, while another terminal creates, edits and breaks a Home',
    commands: ['kubewright dev', 'kubectl apply -f samples', 'kubectl scale deployment home-sample --replicas 5'],
    async record(terminal) {
      const cwd = join(root, 'examples', 'home')
      const kubeconfig = join(terminal.folder, 'kubeconfig')
      const env = { KUBECONFIG: kubeconfig }
      terminal.prompt('kubewright dev')
      await terminal.start(process.execPath, [...cli, 'dev', '--kubeconfig', kubeconfig], / started in /, {
        cwd,
        shows: (line) => !/kubeconfig|console|^dns|in another terminal|home-of-old|Stopping/i.test(line),
      })
      terminal.gap()
      terminal.prompt('kubectl apply -f samples')
      await terminal.run('kubectl', ['apply', '-f', 'samples'], {
        cwd,
        env,
        shows: (line) => !/of-old|Warning/.test(line),
      })
      await terminal.line(/readyReplicas|status/)
      await pause(3000)
      terminal.gap()
      terminal.prompt('kubectl scale deployment home-sample --replicas 5')
      await terminal.run('kubectl', ['scale', 'deployment', 'home-sample', '--replicas', '5'], { cwd, env })
      await pause(4000)
    },
  },
  {
    name: 'explain',
    title: 'kubectl explain shows descriptions of built-in fields, served by kubewright up',
    commands: ['kubewright up', 'kubectl explain deployment.spec.strategy'],
    async record(terminal) {
      const kubeconfig = join(terminal.folder, 'kubeconfig')
      const env = { KUBECONFIG: kubeconfig }
      await terminal.start(
        process.execPath,
        [...cli, 'up', '--memory', '--port', '0', '--kubeconfig', kubeconfig],
        /^ready /,
        {
          shows: hidden,
        },
      )
      terminal.prompt('kubectl explain deployment.spec.strategy')
      await terminal.run('kubectl', ['explain', 'deployment.spec.strategy'], { env })
    },
  },
  {
    name: 'simulate',
    title: 'kubewright simulate finds a mistake in a controller and prints the shortest story that shows it',
    commands: ['kubewright simulate src/tutorial.ts --samples samples --faults crash --seed 2'],
    async record(terminal) {
      const cwd = join(root, 'examples', 'app-service')
      terminal.prompt('kubewright simulate src/tutorial.ts --samples samples --faults crash --seed 2')
      const flags = ['--samples', 'samples', '--faults', 'crash', '--seed', '2']
      await terminal.run(process.execPath, [...cli, 'simulate', 'src/tutorial.ts', ...flags], { cwd })
    },
  },
]

const pause = (millis: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, millis))
