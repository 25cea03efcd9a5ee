import { AsyncLocalStorage } from 'node:async_hooks'
import type { ClientOptions } from '@kubewright/client'
import { userFrame } from './host-guards.ts'

/**
 * Finds the line of the operator's code that sends a request. Promises of timers and deadlines interrupt the stack between
 * that line and the transport. So the line is found where the client is called, and follows the request from there.
 */
export class RequestSources {
  readonly #storage = new AsyncLocalStorage<string | undefined>()

  /** The option of the client. */
  readonly around: NonNullable<ClientOptions['around']> = (_, call) => this.#storage.run(sourceLine(), call)

  /** The line that sends the current request. */
  current(): string | undefined {
    return this.#storage.getStore()
  }
}

function sourceLine(): string | undefined {
  const { stackTraceLimit } = Error
  Error.stackTraceLimit = 60
  const { stack = '' } = new Error('source')
  Error.stackTraceLimit = stackTraceLimit
  return userFrame(stack)
    ?.replace(/^at (async )?/, '')
    .replace(`${process.cwd()}/`, '')
}
