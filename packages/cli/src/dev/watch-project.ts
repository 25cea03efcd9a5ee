import { type FSWatcher, watch } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import type { Clock, Timer } from '@kubewright/base'

/** The options of {@link watchProject}. */
export interface WatchProjectOptions {
  readonly folders: readonly string[]
  readonly clock: Clock
  /** Called with the changed files after a moment without further changes. */
  readonly onChange: (files: readonly string[]) => void
}

const quietMillis = 100
const ignoredFolders = /^(\..*|node_modules|dist|coverage)$/
// kubewright generate writes JSON to this folder, which is derived from the code.
const generatedFolder = 'grafana'
const isCode = /\.([cm]?[jt]sx?|json)$/
const isNotWatched = /(\.(test|spec|test-d)\.[cm]?[jt]sx?|\.d\.[cm]?ts|package-lock\.json)$/

/**
 * Watches the code of a project until disposed. Resolves when the watches are set up. Each folder is watched separately, because not all
 * systems and versions of Node support recursive watches, and most folders of a project contain no code.
 */
export async function watchProject(options: WatchProjectOptions): Promise<Disposable> {
  const watching = new ProjectWatch(options)
  await Promise.all(options.folders.map((folder) => watching.add(folder)))
  return watching
}

class ProjectWatch implements Disposable {
  readonly #options: WatchProjectOptions
  readonly #watchers = new Map<string, FSWatcher>()
  // The last state of each file: editors and systems also report events without a change.
  readonly #seen = new Map<string, string>()
  readonly #changed = new Set<string>()
  #timer: Timer | undefined
  #isDisposed = false

  constructor(options: WatchProjectOptions) {
    this.#options = options
  }

  async add(folder: string): Promise<void> {
    if (this.#isDisposed || this.#watchers.has(folder)) return
    const watcher = watch(folder, (_, name) => name !== null && void this.#look(join(folder, name)))
    // The folder was removed.
    watcher.on('error', () => this.#forget(folder))
    this.#watchers.set(folder, watcher)
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
    await Promise.all(
      entries.map(async (entry) => {
        const path = join(folder, entry.name)
        if (entry.isDirectory()) {
          if (!this.#isIgnored(folder, entry.name)) await this.add(path)
        } else if (isCode.test(entry.name)) this.#seen.set(path, await stateOf(path))
      }),
    )
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true
    this.#timer?.cancel()
    for (const watcher of this.#watchers.values()) watcher.close()
    this.#watchers.clear()
  }

  async #look(path: string): Promise<void> {
    const name = basename(path)
    if (this.#isIgnored(dirname(path), name)) return
    const state = await stateOf(path)
    if (state === 'folder') {
      await this.#adopt(path)
      return
    }
    if (!isCode.test(name) || isNotWatched.test(name)) return
    if ((this.#seen.get(path) ?? gone) === state) return
    this.#seen.set(path, state)
    this.#report(path)
  }

  #isIgnored(folder: string, name: string): boolean {
    return ignoredFolders.test(name) || (name === generatedFolder && this.#options.folders.includes(folder))
  }

  /** Watches a folder that was created or moved here, and reports all its files. */
  async #adopt(folder: string): Promise<void> {
    if (this.#watchers.has(folder)) return
    const known = new Set(this.#seen.keys())
    await this.add(folder)
    for (const path of this.#seen.keys()) if (!known.has(path) && !isNotWatched.test(path)) this.#report(path)
  }

  #forget(folder: string): void {
    this.#watchers.get(folder)?.close()
    this.#watchers.delete(folder)
  }

  #report(path: string): void {
    const { clock, folders, onChange } = this.#options
    this.#changed.add(relative(folders[0] ?? '', path))
    this.#timer?.cancel()
    this.#timer = clock.setTimer(quietMillis, () => {
      const files = [...this.#changed].sort()
      this.#changed.clear()
      if (!this.#isDisposed) onChange(files)
    })
  }
}

const gone = 'gone'

/** A text that differs between two states of a file. */
async function stateOf(path: string): Promise<string> {
  try {
    const found = await stat(path)
    return found.isDirectory() ? 'folder' : `${found.mtimeMs} ${found.size} ${found.ino}`
  } catch {
    return gone
  }
}
