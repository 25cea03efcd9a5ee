import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { createServerIdentity } from '@kubewright/server'

interface ConvertedObject {
  readonly apiVersion: string
  readonly [field: string]: unknown
}

/** A conversion webhook on this machine with its own certificate. */
export class ConversionHook implements AsyncDisposable {
  readonly url: string
  /** The CA in base64, for the CustomResourceDefinition. */
  readonly caBundle: string
  /** The number of handled reviews. */
  reviews = 0
  readonly #server: Server

  private constructor(server: Server, port: number, ca: string) {
    this.#server = server
    this.url = `https://127.0.0.1:${port}/convert`
    this.caBundle = Buffer.from(ca).toString('base64')
  }

  static async start(
    convert: (object: ConvertedObject, apiVersion: string) => ConvertedObject,
  ): Promise<ConversionHook> {
    const { ca, serving } = createServerIdentity(Date.now())
    let hook: ConversionHook
    const server = createServer({ cert: serving.cert, key: serving.key }, (request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk: Buffer) => chunks.push(chunk))
      request.on('end', () => {
        hook.reviews++
        const review = JSON.parse(Buffer.concat(chunks).toString()) as {
          apiVersion: string
          kind: string
          request: { uid: string; desiredAPIVersion: string; objects: ConvertedObject[] }
        }
        const { uid, desiredAPIVersion, objects } = review.request
        const convertedObjects = objects.map((object) => convert(object, desiredAPIVersion))
        const { apiVersion, kind } = review
        const answer = { apiVersion, kind, response: { uid, result: { status: 'Success' }, convertedObjects } }
        response.setHeader('content-type', 'application/json')
        response.end(JSON.stringify(answer))
      })
    })
    // The API server keeps its connections: closing an idle one could break the request that uses it next.
    server.keepAliveTimeout = 0
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    hook = new ConversionHook(server, (server.address() as AddressInfo).port, ca.cert)
    return hook
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise<void>((resolve) => this.#server.close(() => resolve()))
  }
}
