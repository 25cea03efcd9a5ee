import { type FSWatcher, watch } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import type { Clock, Timer } from '@kubewright/base'

/** What {@link watchProject} takes. */
export interface WatchProjectOptions {
  readonly folders: readonly string[]
  readonly clock: Clock
  /** Told the files that changed, once they have been left alone for a moment. */
  readonly onChange: (files: readonly string[]) => void
}

const quietMillis = 100
const passedOver = /^(\..*|node_modules|dist|coverage)$/
// What kubewright generate writes as JSON follows from the code, and not the other way.
const generated = 'grafana'
const isCode = /\.([cm]?[jt]sx?|json)$/
const isNone = /(\.(test|spec|test-d)\.[cm]?[jt]sx?|\.d\.[cm]?ts|package-lock\.json)$/

/**
 * Watches the code of a project until disposed: every folder by itself, as not every system and not every version of Node can watch
 * trees, and most of what is in a project is not its code. Resolves when it watches.
 */
export async function watchProject(options: WatchProjectOptions): Promise<Disposable> {
  const watching = new ProjectWatch(options)
  await Promise.all(options.folders.map((folder) => watching.add(folder)))
  return watching
}

class ProjectWatch implements Disposable {
  readonly #options: WatchProjectOptions
  readonly #watchers = new Map<string, FSWatcher>()
  // What is known of each file: editors and systems report changes where there are none.
  readonly #seen = new Map<string, string>()
  readonly #changed = new Set<string>()
  #timer: Timer | undefined
  #isOver = false

  constructor(options: WatchProjectOptions) {
    this.#options = options
  }

  async add(folder: string): Promise<void> {
    if (this.#isOver || this.#watchers.has(folder)) return
    const watcher = watch(folder, (_, name) => name !== null && void this.#look(join(folder, name)))
    // The folder is gone.
    watcher.on('error', () => this.#forget(folder))
    this.#watchers.set(folder, watcher)
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
    await Promise.all(
      entries.map(async (entry) => {
        const path = join(folder, entry.name)
        if (entry.isDirectory()) {
          if (!this.#isPassedOver(folder, entry.name)) await this.add(path)
        } else if (isCode.test(entry.name)) this.#seen.set(path, await stateOf(path))
      }),
    )
  }

  [Symbol.dispose](): void {
    this.#isOver = true
    this.#timer?.cancel()
    for (const watcher of this.#watchers.values()) watcher.close()
    this.#watchers.clear()
  }

  async #look(path: string): Promise<void> {
    const name = basename(path)
    if (this.#isPassedOver(dirname(path), name)) return
    const state = await stateOf(path)
    if (state === 'folder') {
      await this.#adopt(path)
      return
    }
    if (!isCode.test(name) || isNone.test(name)) return
    if ((this.#seen.get(path) ?? gone) === state) return
    this.#seen.set(path, state)
    this.#report(path)
  }

  #isPassedOver(folder: string, name: string): boolean {
    return passedOver.test(name) || (name === generated && this.#options.folders.includes(folder))
  }

  /** A folder that was made or moved here, whose files are all new. */
  async #adopt(folder: string): Promise<void> {
    if (this.#watchers.has(folder)) return
    const known = new Set(this.#seen.keys())
    await this.add(folder)
    for (const path of this.#seen.keys()) if (!known.has(path) && !isNone.test(path)) this.#report(path)
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
      if (!this.#isOver) onChange(files)
    })
  }
}

const gone = 'gone'

/** What tells one state of a file from another. */
async function stateOf(path: string): Promise<string> {
  try {
    const found = await stat(path)
    return found.isDirectory() ? 'folder' : `${found.mtimeMs} ${found.size} ${found.ino}`
  } catch {
    return gone
  }
}
