import { expect, test } from 'vitest'
import { transportContract } from '../contract.ts'
import { ConnectionError } from './connection-error.ts'
import { inProcessTransport } from './in-process-transport.ts'

transportContract('inProcessTransport()', test, async (handler) => inProcessTransport({ handler }))

test('inProcessTransport() reports an incomplete body as a ConnectionError', async () => {
  const transport = inProcessTransport({
    handler: async () => ({
      status: 200,
      headers: {},
      body: async (sink) => {
        sink.write(Buffer.from('half'))
        throw new Error('the power went out')
      },
    }),
  })
  const response = await transport.send({ method: 'GET', path: '/' })
  await expect(response.body.bytes()).rejects.toThrow(new ConnectionError('the power went out', { host: 'in-process' }))
})

test('inProcessTransport() passes its peer to the handler', async () => {
  const peer = { address: '10.0.0.1', certificate: { commonName: 'ada', organizations: ['dev'] } }
  const transport = inProcessTransport({
    peer,
    handler: async (request) => ({ status: 200, headers: {}, body: Buffer.from(JSON.stringify(request.peer)) }),
  })
  const response = await transport.send({ method: 'GET', path: '/' })
  expect(JSON.parse(Buffer.from(await response.body.bytes()).toString())).toEqual(peer)
})

test('inProcessTransport() waits for its pause before sending', async () => {
  const seen: string[] = []
  const transport = inProcessTransport({
    pause: async () => void seen.push('pause'),
    handler: async () => {
      seen.push('request')
      return { status: 200, headers: {} }
    },
  })
  await transport.send({ method: 'GET', path: '/' })
  expect(seen).toEqual(['pause', 'request'])
})
