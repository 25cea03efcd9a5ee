// Imports little besides Node's modules, because it runs before the program.
import { createHash } from 'node:crypto'
import { chmodSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join } from 'node:path'
import { Script } from 'node:vm'
import { cacheFolder } from './command/cache-folder.ts'

/** A program that was loaded from one file. */
export interface LoadedProgram<T> {
  readonly exports: T
  /** Keeps the code that V8 has compiled so far for the next start. Undefined if this start used such code. Never throws. */
  readonly save: (() => void) | undefined
}

/** The number of programs and versions of Node whose code is kept. */
const keptFiles = 4
const extension = '.v8code'
const digestBytes = 32

/**
 * Loads a program that `npm run build` has bundled into one file, without `import()` of other files, with the code that V8 compiled for it in an earlier run: compiling is half
 * of a start. Returns undefined if the file does not exist. Without a folder, or if the compiled code cannot be used, V8 compiles the
 * program as usual.
 *
 * Compiled code is used only if it belongs to this version of Node and exactly this program, is complete, and nobody but the current user
 * can have written it. V8 checks its own version and flags.
 */
export function loadProgram<T>(file: string, folder: string | undefined): LoadedProgram<T> | undefined {
  const source = readIfPresent(file)
  if (source === undefined) return undefined
  const code = folder === undefined ? undefined : new CompiledCode(folder, file, source)
  const cachedData = code?.read()
  const script = new Script(source.toString('latin1'), {
    filename: file,
    ...(cachedData === undefined ? {} : { cachedData }),
  })
  const isUsed = cachedData !== undefined && script.cachedDataRejected === false
  const module = { exports: {} as T }
  // The build wraps the program into the function that Node puts around CommonJS modules.
  const run = script.runInThisContext() as (...parts: unknown[]) => void
  run(module.exports, createRequire(file), module, file, dirname(file))
  const save = code === undefined || isUsed ? undefined : () => code.write(script.createCachedData())
  return { exports: module.exports, save }
}

/** The folder for compiled code: the cache folder of the user. Undefined if the user has disabled Node's compile cache. */
export function codeCacheFolder(env: NodeJS.ProcessEnv, platform: NodeJS.Platform): string | undefined {
  if (env['NODE_DISABLE_COMPILE_CACHE'] === '1') return undefined
  try {
    return join(cacheFolder(env, platform), 'code')
  } catch {
    // The user has no home folder.
    return undefined
  }
}

/** The file with the compiled code of one program: a digest, then the code. */
class CompiledCode {
  readonly #folder: string
  readonly #key: string
  readonly #file: string

  constructor(folder: string, program: string, source: Buffer) {
    const digest = createHash('sha256').update(source).digest('hex')
    this.#folder = folder
    this.#key = `${process.version} ${process.arch} ${digest}`
    this.#file = join(
      folder,
      `${basename(program)}-${process.version}-${process.arch}-${digest.slice(0, 16)}${extension}`,
    )
  }

  read(): Buffer | undefined {
    try {
      if (!isPrivate(this.#folder) || !isPrivate(this.#file)) return undefined
      const bytes = readFileSync(this.#file)
      const code = bytes.subarray(digestBytes)
      return this.#digest(code).equals(bytes.subarray(0, digestBytes)) ? code : undefined
    } catch {
      return undefined
    }
  }

  write(code: Buffer): void {
    // With the process id, because several processes may write at the same time.
    const draft = `${this.#file}.${process.pid}.tmp`
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
      if (!isPrivate(this.#folder)) chmodSync(this.#folder, 0o700)
      writeFileSync(draft, Buffer.concat([this.#digest(code), code]), { mode: 0o600, flag: 'wx' })
      renameSync(draft, this.#file)
      this.#removeOld()
    } catch {
      // The cache is an optimization: a full disk or a read-only folder must not stop the program.
      removeIfPossible(draft)
    }
  }

  #digest(code: Buffer): Buffer {
    return createHash('sha256').update(this.#key).update(code).digest()
  }

  #removeOld(): void {
    const files = readdirSync(this.#folder)
      .filter((name) => name.endsWith(extension))
      .map((name) => join(this.#folder, name))
    const byAge = files.map((file) => ({ file, time: statSync(file).mtimeMs })).sort((a, b) => b.time - a.time)
    for (const { file } of byAge.slice(keptFiles)) rmSync(file, { force: true })
  }
}

/** Whether nobody but the current user can write to a file or folder. On Windows, the folders of users are private by default. */
function isPrivate(path: string): boolean {
  const { uid, mode } = statSync(path)
  return process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0)
}

function removeIfPossible(file: string): void {
  try {
    rmSync(file, { force: true })
  } catch {
    // The folder does not exist, or is read-only: then the file was not written.
  }
}

function readIfPresent(file: string): Buffer | undefined {
  try {
    return readFileSync(file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}
