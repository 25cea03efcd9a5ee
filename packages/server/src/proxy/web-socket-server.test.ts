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

  test('reads no further pings from a client that does not take the answers', async () => {
    const [client, connection] = duplexPair()
    const socket = new WebSocketServer(
      await loadFraming(),
      connection,
      () => {},
      () => {},
    )
    const ping = Buffer.concat([Buffer.from([0x89, 0x80 + 125, 0, 0, 0, 0]), Buffer.alloc(125)])
    let isOver = false
    client.write(Buffer.concat(Array.from({ length: 1000 }, () => ping)))
    for (let i = 0; i < 1000 && !isOver; i++) {
      isOver = !client.write(Buffer.concat(Array.from({ length: 1000 }, () => ping)))
      await turn()
    }
    expect(isOver).toBe(true)
    expect(connection.isPaused()).toBe(true)
    socket.pause()
    socket.resume()
    expect(connection.isPaused()).toBe(true)
    client.resume()
    await turn()
    expect(connection.isPaused()).toBe(false)
  })

  test('disconnects a client that sends a control frame of more than 125 bytes, or too many fragments', async () => {
    const long = Buffer.concat([Buffer.from([0x89, 0xfe, 0, 126, 0, 0, 0, 0]), Buffer.alloc(126)])
    const fragment = Buffer.from([0x00, 0x81, 0, 0, 0, 0, 0x68])
    const fragments = Buffer.concat([
      Buffer.from([0x02, 0x81, 0, 0, 0, 0, 0x68]),
      ...Array.from({ length: 2000 }, () => fragment),
    ])
    for (const bytes of [long, fragments]) {
      const [client, connection] = duplexPair()
      let isClosed = false
      new WebSocketServer(
        await loadFraming(),
        connection,
        () => {},
        () => (isClosed = true),
      )
      client.write(bytes)
      await turn()
      await turn()
      expect(isClosed).toBe(true)
    }
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
