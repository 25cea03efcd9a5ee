import { duplexPair } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { loadFraming, WebSocketServer } from './web-socket-server.ts'

/** The text `hi` in a masked binary frame. */
const frame = Buffer.from([0x82, 0x82, 0, 0, 0, 0, 0x68, 0x69])
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('WebSocketServer', () => {
  test('delivers no message while it is paused', async () => {
    const [client, connection] = duplexPair()
    const seen: string[] = []
    const socket = new WebSocketServer(
      await loadFraming(),
      connection,
      (message) => seen.push(String(message)),
      () => {},
    )
    client.write(frame)
    await turn()
    socket.pause()
    client.write(frame)
    await turn()
    expect(seen).toEqual(['hi'])
    socket.resume()
    await turn()
    expect(seen).toEqual(['hi', 'hi'])
  })

  test('reports a client that lags, and when it has taken all messages', async () => {
    const [client, connection] = duplexPair()
    const socket = new WebSocketServer(
      await loadFraming(),
      connection,
      () => {},
      () => {},
    )
    expect(socket.send('small')).toBe(true)
    expect(socket.send(Buffer.alloc(1024 * 1024))).toBe(false)
    const drained = new Promise<void>((resolve) => socket.drained(resolve))
    client.resume()
    await drained
    expect(socket.send('small')).toBe(true)
  })

  test('ends with a close frame, and sends nothing after it', async () => {
    const [client, connection] = duplexPair()
    let isClosed = false
    const socket = new WebSocketServer(
      await loadFraming(),
      connection,
      () => {},
      () => (isClosed = true),
    )
    socket.close()
    expect(socket.send('late')).toBe(true)
    client.end()
    const received: Buffer[] = []
    for await (const chunk of client) received.push(chunk as Buffer)
    expect(Buffer.concat(received)).toEqual(Buffer.from([0x88, 2, 0x03, 0xe8]))
    await turn()
    expect(isClosed).toBe(true)
  })
})
