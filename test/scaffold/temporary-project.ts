import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { systemClock } from '@kubewright/base'
import { runCommand } from '@kubewright/cli'
import { packedModules } from './packed-modules.ts'

const root = join(import.meta.dirname, '../..')

/** The result of a command. */
export interface Ran {
  readonly code: number
  readonly out: string
  readonly notes: string
}

/** A temporary folder for the commands of the scaffold, removed when disposed. */
export interface TemporaryProject extends Disposable {
  readonly folder: string
  /** Runs a command without a terminal. Its notes come without the name of the program and the pointer to its help. */
  kubewright(...args: string[]): Promise<Ran>
  /** Runs a command with a user who gives these answers. */
  answer(answers: readonly string[], ...args: string[]): Promise<Ran & { readonly questions: readonly string[] }>
  read(path: string): string
  write(path: string, text: string): void
  change(path: string, from: string | RegExp, to: string): void
  remove(path: string): void
  /** Every file by path. */
  files(): Record<string, string>
  /** The errors of the compiler. */
  typecheck(): Promise<string>
  /** Runs the project's tests. */
  test(): Promise<{ readonly code: number; readonly output: string }>
}

/** Creates an empty folder. */
export function temporaryProject(name = 'my-home'): TemporaryProject {
  const parent = mkdtempSync(join(tmpdir(), 'kubewright-scaffold-'))
  const folder = join(parent, name)
  mkdirSync(folder)
  const call = async (args: readonly string[], answers?: string[]): Promise<Ran & { questions: string[] }> => {
    const [out, notes, questions]: [string[], string[], string[]] = [[], [], []]
    const ask = async (question: string): Promise<string> => {
      questions.push(question)
      const answer = answers?.shift()
      if (answer === undefined) throw new Error(`The test has no answer to the question ${question}`)
      return answer
    }
    const code = await runCommand(args, {
      out: (line) => out.push(line),
      note: (line) => notes.push(line),
      env: {},
      clock: systemClock,
      startedAt: 0,
      folder,
      ...(answers === undefined ? {} : { interaction: { ask } }),
      runProgram: async () => 0,
      signal: new AbortController().signal,
    })
    const shown = notes.join('\n').replace(/^kubewright [a-z ]+: /, '')
    return {
      code,
      out: out.join('\n'),
      notes: shown.replace(/\nSee kubewright(?: [a-z]+)+ --help$/, ''),
      questions,
    }
  }
  const project: TemporaryProject = {
    folder,
    kubewright: (...args) => call(args),
    answer: (answers, ...args) => call(args, [...answers]),
    read: (path) => readFileSync(join(folder, path), 'utf8'),
    write(path, text) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), text)
    },
    change(path, from, to) {
      const before = project.read(path)
      const after = before.replace(from, to)
      if (after === before) throw new Error(`${path} does not contain ${from}`)
      project.write(path, after)
    },
    remove: (path) => rmSync(join(folder, path)),
    files: () => filesOf(folder),
    async typecheck() {
      await linkModules(folder)
      const { output } = await run(join(root, 'node_modules/ts7/bin/tsc'), ['-p', '.', '--noEmit'], folder)
      return output
    },
    async test() {
      await linkModules(folder)
      const vitest = join(root, 'node_modules/vitest/vitest.mjs')
      // All files in one process, so that the packages are loaded once. The deadline suits a busy machine.
      const options = ['--no-isolate', '--no-file-parallelism', '--testTimeout', '60000']
      return await run(vitest, ['run', '--root', folder, '--dir', join(folder, 'src'), ...options], folder)
    },
    [Symbol.dispose]: () => rmSync(parent, { recursive: true, force: true }),
  }
  return project
}

function filesOf(folder: string): Record<string, string> {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true })
  const paths = entries
    .filter((entry) => entry.isFile() && !entry.parentPath.includes('node_modules'))
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
  return Object.fromEntries(paths.sort().map((path) => [path, readFileSync(join(folder, path), 'utf8')]))
}

async function linkModules(folder: string): Promise<void> {
  const modules = await packedModules()
  try {
    symlinkSync(modules, join(folder, 'node_modules'))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
}

function run(script: string, args: readonly string[], cwd: string): Promise<{ code: number; output: string }> {
  const env = { ...process.env, NO_COLOR: '1', VITEST: undefined, NODE_OPTIONS: undefined }
  return new Promise((resolve) => {
    execFile(process.execPath, [script, ...args], { cwd, env, timeout: 120_000 }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code ?? 1), output: `${stdout}${stderr}` })
    })
  })
}
