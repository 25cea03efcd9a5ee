import { startCoreServer } from './core-server.ts'
import type { PlainAnswer, PlainRequest, PlainServer } from './plain-server.ts'

/** The headers of a JSON merge patch. */
export const jsonMerge = { 'content-type': 'application/merge-patch+json' }
/** The headers of a strategic merge patch. */
export const strategicMerge = { 'content-type': 'application/strategic-merge-patch+json' }

/** A server with all built-in resources, and shorthands for requests to it. */
export class CoreClient implements AsyncDisposable {
  readonly #server: PlainServer

  private constructor(server: PlainServer) {
    this.#server = server
  }

  static async start(): Promise<CoreClient> {
    return new CoreClient(await startCoreServer())
  }

  /** Sends `METHOD /path?query`. */
  send(line: string, request: PlainRequest = {}): Promise<PlainAnswer> {
    return this.#server.send(line, request)
  }

  create(path: string, body: unknown): Promise<PlainAnswer> {
    return this.send(`POST ${path}`, { body })
  }

  /** Sends a JSON merge patch, or the patch that the headers name. */
  patch(path: string, body: unknown, headers: Readonly<Record<string, string>> = jsonMerge): Promise<PlainAnswer> {
    return this.send(`PATCH ${path}`, { body, headers })
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#server[Symbol.asyncDispose]()
  }
}

/** An object with a name and further fields. */
export function named(name: string, fields: object = {}): object {
  return { metadata: { name }, ...fields }
}

/** The text after `Kind "name" is invalid: ` in the message of a Status. */
export function problemOf({ body }: PlainAnswer): string {
  return String(body.message).replace(/^\S+ "\S*" is invalid: /, '')
}
