import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { CaughtError, onAbort, type Random } from '@kubewright/base'
import type { HttpResponse } from './http-connections.ts'
import { type DialOptions, dial } from './http-dial.ts'
import { crypto, http } from './node-modules.ts'
import type { UpgradeRequest } from './transport.ts'

/** A connection that was upgraded to a WebSocket. */
export interface Upgraded {
  readonly stream: Duplex
  readonly head: Uint8Array
  readonly protocol: string
}

/** The suffix of RFC 6455 for the accept hash. */
const acceptSuffix = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

/** Opens a separate connection and requests a WebSocket. Returns the response when the server declines. */
export async function upgrade(
  options: DialOptions,
  { path, headers = {}, protocols, signal }: UpgradeRequest,
  random: Random,
): Promise<Upgraded | HttpResponse> {
  const socket = await dial({ ...options, protocols: ['http/1.1'], signal })
  const key = Buffer.from(random.bytes(16)).toString('base64')
  return new Promise((resolve, reject) => {
    const request = http().request({
      createConnection: () => socket,
      path,
      headers: {
        host: options.server.host,
        ...(headers as Record<string, string | string[]>),
        connection: 'Upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': key,
        'sec-websocket-protocol': protocols.join(', '),
      },
    })
    const cancel = (): void => void request.destroy()
    const stopListening = onAbort(signal, cancel)
    request.once('close', stopListening)
    request.once('error', reject)
    request.once('response', (response: IncomingMessage) => {
      resolve({ status: response.statusCode ?? 0, headers: response.headersDistinct, stream: response, cancel })
    })
    request.once('upgrade', (response: IncomingMessage, stream: Duplex, head: Buffer) => {
      const expected = crypto().createHash('sha1').update(`${key}${acceptSuffix}`).digest('base64')
      const protocol = response.headers['sec-websocket-protocol'] ?? ''
      if (response.headers['sec-websocket-accept'] === expected && protocols.includes(protocol)) {
        resolve({ stream, head, protocol })
        return
      }
      stream.destroy()
      reject(new CaughtError(`the server does not speak ${protocols.join(' or ')}`))
    })
    request.end()
  })
}
