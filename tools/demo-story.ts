// How the demo presents events: chapters, commands, and a line for each change received through a watch.
import { type AnyKind, formatKey, type Infer, type KubeObject, toNameAndNamespace } from '@kubewright/api'
import { type ApiClient, allNamespaces, type Key } from '@kubewright/client'

/** The output of a story. */
export interface StoryOptions {
  readonly write: (text: string) => void
  readonly colour: boolean
  /** The width of the terminal. */
  readonly columns: number
  /** The pause between chapters, for people to read. */
  readonly pauseMillis: number
}

const colours = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const
const patienceMillis = 30_000
// A story is quiet if it has written nothing for this long.
const quietMillis = 250

interface Seen {
  readonly object: KubeObject
  readonly text: string
}

/** Writes events as they happen, and lets the demo wait for them. */
export class Story {
  readonly #options: StoryOptions
  readonly #seen = new Map<string, Seen>()
  readonly #listeners = new Set<() => void>()
  #since = performance.now()
  #lastLine = performance.now()
  #chapters = 0
  /** Lines that occur while a command is running; they are written after its response. */
  #held: string[] | undefined

  constructor(options: StoryOptions) {
    this.#options = options
  }

  paint(colour: keyof typeof colours, text: string): string {
    return this.#options.colour ? `\u001b[${colours[colour]}m${text}\u001b[0m` : text
  }

  line(text = ''): void {
    this.#lastLine = performance.now()
    this.#options.write(`${text}\n`)
  }

  /** Starts a chapter after the previous one has become quiet. */
  async chapter(title: string): Promise<void> {
    await this.quiet()
    if (this.#chapters++ > 0) await sleep(this.#options.pauseMillis)
    const rule = '━'.repeat(Math.max(2, this.#width() - title.length - 6))
    this.line(`\n${this.paint('bold', `━━ ${this.#chapters} ${title} ${rule}`)}\n`)
  }

  /** Writes an explanation, wrapped to the width. */
  say(text: string): void {
    for (const line of wrapped(text, this.#width())) this.line(this.paint('dim', line))
  }

  /** Shows a command. Times of events are relative to it. */
  async command(text: string): Promise<void> {
    await this.quiet()
    this.line(`${this.paint('cyan', '$')} ${this.paint('bold', text)}`)
    this.#since = performance.now()
  }

  /** Writes the response to a command. */
  answer(text: string, colour?: keyof typeof colours): void {
    const lines = wrapped(text, this.#width() - 2)
    for (const line of lines) this.line(`  ${colour === undefined ? line : this.paint(colour, line)}`)
  }

  /** Runs a command and holds back events until its response has been written. */
  async answered(act: () => Promise<void>): Promise<void> {
    this.#held = []
    try {
      await act()
    } finally {
      const held = this.#held
      this.#held = undefined
      for (const text of held) this.line(text)
    }
  }

  /** Writes an event that happens now. */
  happened(sign: '+' | '~' | '-', kind: string, name: string, text: string): void {
    const colour = sign === '+' ? 'green' : sign === '-' ? 'red' : 'yellow'
    const time = ((performance.now() - this.#since) / 1000).toFixed(2).padStart(6)
    const head = `${time}s ${sign} ${kind.padEnd(10)} ${name.padEnd(28)} `
    const room = Math.max(10, this.#options.columns - head.length)
    const rest = text.length > room ? `${text.slice(0, room - 1)}…` : text
    const painted = [this.paint('dim', `${time}s`), this.paint(colour, sign), kind.padEnd(10)]
    const line = [...painted, this.paint(colour, name.padEnd(28)), rest].join(' ').trimEnd()
    if (this.#held) this.#held.push(line)
    else this.line(line)
  }

  /**
   * Watches the objects of a kind in all namespaces, and writes an event whenever the description of an object changes.
   */
  follow<K extends AnyKind>(
    client: ApiClient,
    kind: K,
    describe: (object: Infer<K>) => string | undefined,
    signal: AbortSignal,
  ): void {
    const following = async (): Promise<void> => {
      while (!signal.aborted) {
        const options = { sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan', signal } as const
        const where = kind.scope === 'Namespaced' ? { namespace: allNamespaces } : {}
        const watch = await client.watch(kind, { ...where, ...options })
        for await (const event of watch) {
          if (event.type === 'BOOKMARK') continue
          const text = describe(event.object as Infer<K>)
          if (text !== undefined) this.#sight(kind, event.object as KubeObject, text, event.type === 'DELETED')
        }
      }
    }
    following().catch((error: unknown) => {
      if (!signal.aborted) this.line(this.paint('red', `cannot follow ${kind.plural}: ${String(error)}`))
    })
  }

  /** Resolves when an event has been written after which the condition holds. A deleted object is undefined. */
  async until<K extends AnyKind>(kind: K, key: Key, holds: (object: Infer<K> | undefined) => boolean): Promise<void> {
    const id = idOf(kind, toNameAndNamespace(key))
    await this.#wait(`${kind.kind} ${id}`, () => holds(this.#seen.get(id)?.object as Infer<K> | undefined))
  }

  /** Returns the number of known objects of a kind. */
  count(kind: AnyKind): number {
    return [...this.#seen.keys()].filter((id) => id.startsWith(`${kind.plural}/`)).length
  }

  /** Resolves when there are exactly `count` objects of a kind. */
  async untilCount(kind: AnyKind, count: number): Promise<void> {
    await this.#wait(`${count} ${kind.plural}`, () => this.count(kind) === count)
  }

  /** Resolves when nothing more happens. */
  async quiet(): Promise<void> {
    for (;;) {
      const left = this.#lastLine + quietMillis - performance.now()
      if (left <= 0) return
      await sleep(left)
    }
  }

  #sight(kind: AnyKind, object: KubeObject, text: string, isDeleted: boolean): void {
    const { name, namespace } = object.metadata
    const id = idOf(kind, { name, namespace })
    const before = this.#seen.get(id)
    const label = formatKey(name, namespace === 'default' ? undefined : namespace)
    const description = object.metadata.deletionTimestamp === undefined ? text : `being deleted`
    if (isDeleted) {
      this.#seen.delete(id)
      if (before !== undefined) this.happened('-', kind.kind, label, 'gone')
    } else {
      this.#seen.set(id, { object, text: description })
      if (before === undefined) this.happened('+', kind.kind, label, description)
      else if (before.text !== description) this.happened('~', kind.kind, label, description)
    }
    for (const listener of this.#listeners) listener()
  }

  #wait(what: string, holds: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const done = (): void => {
        clearTimeout(timer)
        this.#listeners.delete(check)
      }
      const check = (): void => {
        if (!holds()) return
        done()
        resolve()
      }
      const timer = setTimeout(() => {
        done()
        reject(new Error(`Timed out after ${patienceMillis / 1000} seconds: waiting for ${what}`))
      }, patienceMillis)
      this.#listeners.add(check)
      check()
    })
  }

  #width(): number {
    return Math.min(this.#options.columns, 100)
  }
}

function idOf(kind: AnyKind, { name, namespace }: { name: string; namespace?: string | undefined }): string {
  return `${kind.plural}/${formatKey(name, kind.scope === 'Namespaced' ? (namespace ?? 'default') : undefined)}`
}

function wrapped(text: string, width: number): string[] {
  const lines: string[] = []
  for (const paragraph of text.split('\n')) {
    let line = ''
    for (const word of paragraph.split(/(?<=\S) (?=\S)/)) {
      if (line !== '' && line.length + 1 + word.length > width) {
        lines.push(line)
        line = word
      } else line = line === '' ? word : `${line} ${word}`
    }
    lines.push(line)
  }
  return lines
}

export function sleep(millis: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, millis))
}
