import https from 'node:https'
import type { Requests } from '../../up/requests.ts'

/** A change that a watch reported, or an object of a list. */
export interface SeenChange {
  /** ADDED, MODIFIED, DELETED, LISTED, or ABSENT for an object that was known and is not in a list. */
  readonly type: string
  readonly name: string
  readonly version: number
  readonly value: string | undefined
}

interface StoredMap {
  readonly metadata: { readonly name: string; readonly resourceVersion: string }
  readonly data?: { readonly value?: string }
  readonly code?: number
}

const pause = (millis: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, millis))

/**
 * Follows the ConfigMaps of a namespace over restarts of the server and records every event. Resumes from the last version that it has
 * seen, so that a lost or repeated event shows. Lists again only when the server responds with 410: a server that was killed before it
 * sent an event starts with a newer history.
 */
export class WatchLog {
  /** The events and the objects of lists, in order. */
  readonly changes: SeenChange[] = []
  readonly mistakes: string[] = []
  /** The number of lists. */
  lists = 0
  readonly #name: string
  readonly #path: string
  readonly #servers: readonly Requests[]
  #requests: Requests
  readonly #known = new Set<string>()
  #version = 0
  #isRunning = true
  readonly #done: Promise<void>

  /** Several servers must share their objects: the watch resumes on the next one. */
  constructor(name: string, path: string, servers: Requests | readonly Requests[]) {
    this.#name = name
    this.#path = path
    this.#servers = Array.isArray(servers) ? (servers as readonly Requests[]) : [servers as Requests]
    this.#requests = this.#servers[0]!
    this.#done = this.#run()
  }

  /** The last version that it has seen. */
  get version(): number {
    return this.#version
  }

  /**
   * Waits for the first list. Writes must begin after it: an object that was created and deleted before is in no list and has no event.
   */
  async started(): Promise<void> {
    while (this.lists === 0) await pause(10)
  }

  async stop(): Promise<void> {
    this.#isRunning = false
    for (const { agent } of this.#servers) agent.destroy()
    await this.#done
  }

  async #run(): Promise<void> {
    for (let turn = 0; this.#isRunning; turn++) {
      this.#requests = this.#servers[turn % this.#servers.length]!
      try {
        if (this.#version === 0) await this.#list()
        await this.#watch()
      } catch {
        // The server is down and will be back.
        await pause(10)
      }
    }
  }

  async #list(): Promise<void> {
    const { body, status } = await this.#requests.send('GET', this.#path)
    if (status !== 200) throw new Error(`list: ${status}`)
    this.lists++
    this.#version = Number(body.metadata.resourceVersion)
    const gone = new Set(this.#known)
    for (const { metadata, data } of body.items as StoredMap[]) {
      gone.delete(metadata.name)
      this.#known.add(metadata.name)
      const { name, resourceVersion } = metadata
      this.changes.push({ type: 'LISTED', name, version: Number(resourceVersion), value: data?.value })
    }
    for (const name of gone) {
      this.#known.delete(name)
      this.changes.push({ type: 'ABSENT', name, version: this.#version, value: undefined })
    }
  }

  #watch(): Promise<void> {
    const { hostname, port } = this.#requests.server
    const path = `${this.#path}?watch=1&allowWatchBookmarks=true&resourceVersion=${this.#version}`
    return new Promise((resolve, reject) => {
      const request = https.get({ hostname, port, path, agent: this.#requests.agent }, (response) => {
        response.on('error', reject)
        response.on('close', resolve)
        if (response.statusCode !== 200) {
          response.resume()
          // A server that starts may not know the version yet.
          reject(new Error(`watch: ${response.statusCode}`))
          return
        }
        let rest = ''
        response.setEncoding('utf8').on('data', (chunk: string) => {
          const lines = (rest + chunk).split('\n')
          rest = lines.pop()!
          for (const line of lines) this.#event(line)
        })
      })
      request.on('error', reject)
    })
  }

  #event(line: string): void {
    const { type, object } = JSON.parse(line) as { type: string; object: StoredMap }
    if (type === 'ERROR') {
      if (object.code === 410) this.#version = 0
      else this.mistakes.push(`${this.#name}: ${line}`)
      return
    }
    const { name, resourceVersion } = object.metadata
    const version = Number(resourceVersion)
    if (type === 'BOOKMARK') {
      if (version < this.#version) this.mistakes.push(`${this.#name}: bookmark ${version} after ${this.#version}`)
      this.#version = version
      return
    }
    if (version <= this.#version)
      this.mistakes.push(`${this.#name}: ${type} ${name} at ${version} after ${this.#version}`)
    if ((type === 'ADDED') === this.#known.has(name))
      this.mistakes.push(`${this.#name}: ${type} ${name} at ${version} does not fit`)
    this.#version = version
    if (type === 'DELETED') this.#known.delete(name)
    else this.#known.add(name)
    this.changes.push({ type, name, version, value: object.data?.value })
  }
}
