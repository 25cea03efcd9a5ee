// Clients with open watches while the server is stopped or killed and restarted: no event is lost or delivered twice.
import https from 'node:https'
import { describe, expect, test } from 'vitest'
import { freePort } from '../../packages/storage/src/testdata/free-port.ts'
import { configMap, Requests } from '../up/requests.ts'
import { TemporaryFolder, UpProcess } from '../up/up-process.ts'

const maps = '/api/v1/namespaces/default/configmaps'
const pause = (millis: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, millis))

interface Stored {
  readonly metadata: { readonly name: string; readonly resourceVersion: string }
}

/**
 * Follows ConfigMaps like a reflector: list, watch from there, resume from the last seen version, and list again after
 * 410.
 */
class Follower {
  readonly state = new Map<string, number>()
  /** Detected errors: events out of order, or events that contradict the known objects. */
  readonly mistakes: string[] = []
  relists = 0
  readonly #requests: Requests
  #version = 0
  #running = true
  readonly #done: Promise<void>

  constructor(requests: Requests) {
    this.#requests = requests
    this.#done = this.#run()
  }

  async stop(): Promise<void> {
    this.#running = false
    this.#requests.agent.destroy()
    await this.#done
  }

  async #run(): Promise<void> {
    while (this.#running) {
      try {
        if (this.#version === 0) await this.#list()
        await this.#watch()
      } catch {
        // The server is down and will be back.
        await pause(20)
      }
    }
  }

  async #list(): Promise<void> {
    const { body } = await this.#requests.send('GET', maps)
    this.relists++
    this.state.clear()
    for (const item of body.items as Stored[]) this.state.set(item.metadata.name, Number(item.metadata.resourceVersion))
    this.#version = Number(body.metadata.resourceVersion)
  }

  #watch(): Promise<void> {
    const { hostname, port } = this.#requests.server
    const path = `${maps}?watch=1&allowWatchBookmarks=true&resourceVersion=${this.#version}`
    return new Promise((resolve, reject) => {
      const request = https.get({ hostname, port, path, agent: this.#requests.agent }, (response) => {
        response.on('error', reject)
        response.on('close', resolve)
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
    const event = JSON.parse(line) as { type: string; object: Stored & { code?: number } }
    if (event.type === 'ERROR') {
      if (event.object.code !== 410) this.mistakes.push(line)
      this.#version = 0
      return
    }
    const { name } = event.object.metadata
    const version = Number(event.object.metadata.resourceVersion)
    if (event.type === 'BOOKMARK') {
      this.#version = version
      return
    }
    if (version <= this.#version) this.mistakes.push(`${event.type} ${name} at ${version} after ${this.#version}`)
    this.#version = version
    if ((event.type === 'ADDED') === this.state.has(name)) this.mistakes.push(`${event.type} ${name} at ${version}`)
    if (event.type === 'DELETED') this.state.delete(name)
    else this.state.set(name, version)
  }
}

describe('kubewright up, restarted with open watches', () => {
  test.each(['SIGTERM', 'SIGKILL'] as const)('lets watchers resume without loss after %s', async (signal) => {
    using folder = new TemporaryFolder()
    const flags = ['--port', String(await freePort()), '--controllers', 'none']
    let up = await UpProcess.start(flags, folder.path)
    const followers = Array.from({ length: 5 }, () => new Follower(new Requests(up.kubeconfig)))
    let writing = true
    let written = 0
    // A number of writes instead of a duration, because a busy machine is slow.
    const someWritten = (): Promise<void> => {
      const enough = written + 15
      return expect.poll(() => written).toBeGreaterThan(enough)
    }
    const writer = (async () => {
      using requests = new Requests(up.kubeconfig)
      for (let i = 0; writing; i++) {
        const name = `map-${i % 20}`
        const attempt = async (): Promise<unknown> => {
          if (i % 7 === 3) return requests.send('DELETE', `${maps}/${name}`)
          const { status } = await requests.send('PUT', `${maps}/${name}`, configMap(name, String(i)))
          return status === 404 ? requests.send('POST', maps, configMap(name, String(i))) : undefined
        }
        await attempt().then(
          () => written++,
          () => pause(10),
        )
      }
    })()
    for (let round = 0; round < 3; round++) {
      await someWritten()
      await up.stop(signal)
      up = await UpProcess.start(flags, folder.path)
    }
    await someWritten()
    writing = false
    await writer
    using reader = new Requests(up.kubeconfig)
    const { body } = await reader.send('GET', maps)
    const expected = new Map(
      (body.items as Stored[]).map(({ metadata }) => [metadata.name, Number(metadata.resourceVersion)]),
    )
    expect(expected.size).toBeGreaterThan(5)
    for (const follower of followers) {
      await expect.poll(() => follower.state).toEqual(expected)
      expect(follower.mistakes).toEqual([])
      await follower.stop()
    }
    await up[Symbol.asyncDispose]()
  })
})
