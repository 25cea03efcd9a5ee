import { createHash } from 'node:crypto'
import type { Clock } from '@kubewright/base'
import type { Transport, TransportBody } from '@kubewright/client'

/**
 * Records all requests, responses and watch events of an environment, in order and with their times. Two in-process
 * environments in virtual time with the same operator, options, seed and test have equal histories.
 *
 * @example const history = new History()
 * await using env = await startTestEnv(operator, { time: 'virtual', intercept: history.intercept })
 */
export class History {
  readonly #lines: string[] = []

  /** One line for each request, response and chunk of a response body. */
  get lines(): readonly string[] {
    return this.#lines
  }

  /** The SHA-256 of all lines, in hexadecimal digits. */
  hash(): string {
    const hash = createHash('sha256')
    for (const line of this.#lines) hash.update(line).update('\n')
    return hash.digest('hex')
  }

  /** The value for the option `intercept` of `startTestEnv`. */
  readonly intercept = (transport: Transport, sender: string, clock: Clock): Transport => {
    const { upgrade } = transport
    const write = (line: string): void => {
      this.#lines.push(`${clock.now()} ${sender} ${line}`)
    }
    let sent = 0
    return {
      host: transport.host,
      async send(request) {
        const id = ++sent
        const { method, path, headers = {}, body } = request
        write(`#${id} ${method} ${path} ${JSON.stringify(headers)} ${textOf(body)}`)
        try {
          const response = await transport.send(request)
          write(`#${id} ${response.status} ${JSON.stringify(response.headers)}`)
          return { ...response, body: recorded(response.body, (text) => write(`#${id} ${text}`)) }
        } catch (error) {
          write(`#${id} failed: ${String(error)}`)
          throw error
        }
      },
      ...(upgrade ? { upgrade: (request) => upgrade.call(transport, request) } : {}),
      [Symbol.asyncDispose]: () => transport[Symbol.asyncDispose](),
    }
  }
}

function recorded(body: TransportBody, write: (text: string) => void): TransportBody {
  return {
    async bytes() {
      const bytes = await body.bytes()
      write(textOf(bytes))
      return bytes
    },
    discard: () => body.discard(),
    async *[Symbol.asyncIterator]() {
      for await (const chunk of body) {
        write(textOf(chunk))
        yield chunk
      }
    },
  }
}

const textOf = (bytes: Uint8Array | undefined): string => (bytes === undefined ? '' : Buffer.from(bytes).toString())
