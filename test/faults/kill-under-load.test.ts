// kill -9 of `kubewright up` while clients write: every acknowledged write survives, and no object is incomplete.
import { describe, expect, test } from 'vitest'
import { configMap, Requests } from '../up/requests.ts'
import { TemporaryFolder, UpProcess } from '../up/up-process.ts'

const maps = '/api/v1/namespaces/default/configmaps'

/** Creates and repeatedly updates an object until the server is down. Resolves with the last acknowledged value. */
async function write(requests: Requests, name: string): Promise<{ acknowledged: number; tried: number }> {
  let acknowledged = -1
  for (let value = 0; ; value++) {
    try {
      const reply =
        value === 0
          ? await requests.send('POST', maps, configMap(name, '0'))
          : await requests.send('PUT', `${maps}/${name}`, configMap(name, String(value)))
      if (reply.status >= 300) throw new Error(`${reply.status} ${reply.text}`)
      acknowledged = value
    } catch (error) {
      if (error instanceof Error && /^\d/.test(error.message)) throw error
      return { acknowledged, tried: value }
    }
  }
}

describe('kubewright up, killed under load', () => {
  test('keeps every acknowledged write', async () => {
    using folder = new TemporaryFolder()
    for (let round = 0; round < 3; round++) {
      const up = await UpProcess.start(['--controllers', 'none'], folder.path)
      const names = Array.from({ length: 16 }, (_, i) => `round-${round}-${i}`)
      using requests = new Requests(up.kubeconfig)
      const writing = Promise.all(names.map((name) => write(requests, name)))
      // Until every writer has received several responses.
      for (;;) {
        const { body } = await requests.send('GET', maps)
        const values = names.map((name) => body.items.find((item: Item) => item.metadata.name === name)?.data.value)
        if (values.every((value) => Number(value) >= 5)) break
      }
      expect(await up.stop('SIGKILL')).toBe('SIGKILL')
      const written = await writing
      await using again = await UpProcess.start(['--controllers', 'none'], folder.path)
      using reader = new Requests(again.kubeconfig)
      for (const [i, { acknowledged, tried }] of written.entries()) {
        const { body } = await reader.send('GET', `${maps}/${names[i]}`)
        const value = Number(body.data.value)
        // A write without a response may or may not have been made.
        expect(value).toBeGreaterThanOrEqual(acknowledged)
        expect(value).toBeLessThanOrEqual(tried)
        expect(acknowledged).toBeGreaterThanOrEqual(5)
      }
      expect((await reader.send('GET', '/readyz')).text).toBe('ok')
    }
  })
})

interface Item {
  readonly metadata: { readonly name: string }
  readonly data: { readonly value: string }
}
