import { type Clock, VirtualClock } from '@kubewright/base'
import { MemoryStore } from '@kubewright/storage'
import { expect, test } from 'vitest'
import { assembleServer } from '../assemble-server.ts'

const root = '/apis/flowcontrol.apiserver.k8s.io/v1'

test('keepFlowControl() restores deleted and changed objects after a minute, unless their annotation forbids it', async () => {
  const clock = new VirtualClock()
  await using server = await assembleServer({
    store: new MemoryStore(),
    clock: clock as Clock,
    access: { tokens: [{ token: 'root', user: { name: 'root', groups: ['system:masters'] } }] },
  })
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  const send = async (line: string, body?: unknown): Promise<any> => {
    const [method = '', path = ''] = line.split(' ')
    const response = await server.handler({
      method,
      path: `${root}/${path}`,
      query: new URLSearchParams(),
      headers: { authorization: 'Bearer root', 'content-type': 'application/json' },
      body: async () => Buffer.from(body === undefined ? '' : JSON.stringify(body)),
      signal: new AbortController().signal,
      peer: { address: '127.0.0.1' },
    })
    return JSON.parse(Buffer.from(response.body as Uint8Array).toString())
  }
  const change = async (name: string, autoupdate: string): Promise<void> => {
    const object = await send(`GET prioritylevelconfigurations/${name}`)
    object.metadata.annotations['apf.kubernetes.io/autoupdate-spec'] = autoupdate
    object.spec.limited.nominalConcurrencyShares = 7
    await send(`PUT prioritylevelconfigurations/${name}`, object)
  }
  const sharesOf = async (name: string): Promise<number> =>
    (await send(`GET prioritylevelconfigurations/${name}`)).spec.limited.nominalConcurrencyShares
  await send('DELETE flowschemas/catch-all')
  await send('DELETE flowschemas/probes')
  await change('workload-low', 'true')
  await change('workload-high', 'false')
  await change('catch-all', 'false')
  expect((await send('GET flowschemas/catch-all')).code).toBe(404)
  const isRestored = async (): Promise<boolean> => {
    const schemas = await Promise.all(['catch-all', 'probes'].map((name) => send(`GET flowschemas/${name}`)))
    const shares = [await sharesOf('catch-all'), await sharesOf('workload-low')]
    return schemas.every(({ kind }) => kind === 'FlowSchema') && shares.join() === '5,100'
  }
  // Changes during a wait are restored in the next round.
  for (let tries = 0; !(await isRestored()) && tries < 1000; tries++) {
    await clock.advance(10_000)
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect((await send('GET flowschemas/probes')).spec.matchingPrecedence).toBe(2)
  expect(await sharesOf('catch-all')).toBe(5)
  expect(await sharesOf('workload-low')).toBe(100)
  expect(await sharesOf('workload-high')).toBe(7)
})
