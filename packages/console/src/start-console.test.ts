import { nullLogger } from '@kubewright/base'
import type { ApiClient } from '@kubewright/client'
import { expect, test } from 'vitest'
import { startConsole } from './start-console.ts'

test('startConsole() sends no requests when it cannot listen', async () => {
  let requests = 0
  const count = (): Promise<never> => {
    requests++
    return Promise.reject(new Error('unreachable'))
  }
  const rest = { json: count, stream: count, transport: { host: 'cluster' } }
  const client = { rest, discovery: { groups: count } } as unknown as ApiClient
  const listener = { listen: () => Promise.reject(new Error('the port is in use')) }
  const options = { client, recordFrom: 'start', page: {}, log: nullLogger, listener } as const
  await expect(startConsole(options)).rejects.toThrow('the port is in use')
  expect(requests).toBe(0)
})
