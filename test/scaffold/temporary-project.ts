import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { systemClock } from '@kubewright/base'
import { explainError } from '../../packages/cli/src/command/explain-error.ts'
import { runCreate } from '../../packages/cli/src/scaffold/create-command.ts'
import { runEdit } from '../../packages/cli/src/scaffold/run-edit.ts'
import { runInit } from '../../packages/cli/src/scaffold/run-init.ts'

const root = join(import.meta.dirname, '../..')

/** What a command did. */
export interface Ran {
  readonly code: number
  readonly out: string
  readonly notes: string
}

/** A folder in which commands of the scaffold are called, removed when disposed. */
export interface TemporaryProject extends Disposable {
  readonly folder: string
  /** Calls a command as if it had been typed; a failure is a code, as at the terminal. */
  kubewright(...args: string[]): Promise<Ran>
  /** As `kubewright`, with somebody at the terminal who gives these answers. */
  answer(answers: readonly string[], ...args: string[]): Promise<Ran & { readonly questions: readonly string[] }>
  read(path: string): string
  write(path: string, text: string): void
  change(path: string, from: string | RegExp, to: string): void
  remove(path: string): void
  /** Every file by path. */
  files(): Record<string, string>
  /** What the compiler complains about, on the sources of the workspace. */
  typecheck(): Promise<string>
  /** Runs the project's tests on the sources of the workspace. */
  test(): Promise<{ readonly code: number; readonly output: string }>
}

const commands = { init: runInit, create: runCreate, edit: runEdit }

/** Makes an empty folder. */
export function temporaryProject(name = 'my-home'): TemporaryProject {
  const parent = mkdtempSync(join(tmpdir(), 'kubewright-scaffold-'))
  const folder = join(parent, name)
  mkdirSync(folder)
  const call = async (args: readonly string[], answers?: string[]): Promise<Ran & { questions: string[] }> => {
    const [command, ...rest] = args
    const [out, notes, questions]: [string[], string[], string[]] = [[], [], []]
    const context = {
      out: (line: string) => out.push(line),
      note: (line: string) => notes.push(line),
      env: {},
      clock: systemClock,
      startedAt: 0,
      signal: new AbortController().signal,
    }
    const host = {
      folder,
      isInteractive: answers !== undefined,
      hasColors: false,
      async ask(question: string) {
        questions.push(question)
        const answer = answers?.shift()
        if (answer === undefined) throw new Error(`Nobody expected the question ${question}`)
        return answer
      },
      run: async () => 0,
    }
    const result = (code: number) => ({ code, out: out.join('\n'), notes: notes.join('\n'), questions })
    try {
      return result(await commands[command as keyof typeof commands](rest, context as never, host))
    } catch (error) {
      notes.push(explainError(error))
      return result(error instanceof Error && error.name === 'UsageError' ? 2 : 1)
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
      linkModules(folder)
      // The project's own settings, on the sources of the workspace instead of what a registry has.
      const compilerOptions = { customConditions: ['kubewright-source'], noEmit: true, preserveSymlinks: false }
      const config = { extends: './tsconfig.json', compilerOptions, include: ['src'] }
      const file = join(folder, 'tsconfig.workspace.json')
      writeFileSync(file, JSON.stringify(config))
      const { output } = await run(join(root, 'node_modules/ts7/bin/tsc'), ['-p', file], folder)
      rmSync(file)
      return output
    },
    async test() {
      linkModules(folder)
      const vitest = join(root, 'node_modules/vitest/vitest.mjs')
      const config = join(root, 'test/scaffold/vitest.project.config.ts')
      return await run(vitest, ['run', '--root', folder, '--dir', join(folder, 'src'), '--config', config], folder)
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

function linkModules(folder: string): void {
  try {
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
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
