import https from 'node:https'
import { createInterface } from 'node:readline'
import { targetOfKubeconfig } from '../conformance/target.ts'

/** A client of the server of a kubeconfig that sends plain HTTP/1.1 requests. */
export class Requests implements Disposable {
  readonly agent: https.Agent
  readonly server: URL

  constructor(kubeconfig: string, options: https.AgentOptions = {}) {
    const { server, ca, client } = targetOfKubeconfig(kubeconfig)
    this.server = server
    this.agent = new https.Agent({ keepAlive: true, ca, ...client, ...options })
  }

  [Symbol.dispose](): void {
    this.agent.destroy()
  }

  /** Sends a request and parses the response if it is JSON. */
  send(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Reply> {
    return new Promise((resolve, reject) => {
      const { hostname, port } = this.server
      const type = { 'content-type': 'application/json' }
      const request = https.request(
        {
          hostname,
          port,
          method,
          path,
          agent: this.agent,
          headers: { ...(body === undefined ? {} : type), ...headers },
        },
        (response) => {
          const chunks: Buffer[] = []
          response.on('data', (chunk: Buffer) => chunks.push(chunk))
          response.on('error', reject)
          response.on('end', () => {
            const text = Buffer.concat(chunks).toString()
            resolve({ status: response.statusCode ?? 0, text, body: parsed(text) })
          })
        },
      )
      request.on('error', reject)
      request.end(body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body))
    })
  }

  /** Reads a watch until an object meets the condition. Rejects if the watch ends before. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read objects of any form
  until(path: string, isEnough: (object: any, type: string) => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const { hostname, port } = this.server
      const request = https.request({ hostname, port, path, agent: this.agent }, (response) => {
        let seen: string[] = []
        const lines = createInterface({ input: response })
        // A closed connection fails the response, of which the lines get no event. Without effect if the condition was met.
        response.on('error', reject)
        lines.on('error', reject)
        lines.on('line', (line) => {
          seen = [...seen.slice(-2), line]
          const { type, object } = JSON.parse(line) as { type: string; object: unknown }
          if (!isEnough(object, type)) return
          resolve()
          request.destroy()
        })
        lines.on('close', () => reject(new Error(`The condition was not met on ${path}: ${seen.join('\n')}`)))
      })
      request.on('error', reject)
      request.end()
    })
  }
}

/** A minimal Deployment. */
export function deployment(name: string, replicas: number): Record<string, unknown> {
  const labels = { app: name }
  const containers = [{ name: 'web', image: 'nginx:1.27' }]
  return {
    metadata: { name },
    spec: { replicas, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
  }
}

/** A response. */
export interface Reply {
  readonly status: number
  readonly text: string
  /** The parsed body; undefined if it is not JSON. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of any form
  readonly body: any
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A ConfigMap with one key. */
export function configMap(name: string, value: string): Record<string, unknown> {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { value } }
}
