import https from 'node:https'
import { createInterface } from 'node:readline'
import { targetOfKubeconfig } from '../conformance/target.ts'

/** A client of the server that a kubeconfig names, by plain HTTP/1.1 requests. */
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

  /** Sends a request and reads the answer as JSON where it is. */
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

  /** Follows a watch until an object fulfils the condition; fails when the watch ends before. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into objects of any form
  until(path: string, isEnough: (object: any, type: string) => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const { hostname, port } = this.server
      const request = https.request({ hostname, port, path, agent: this.agent }, (response) => {
        const seen: string[] = []
        const lines = createInterface({ input: response })
        // Cutting the watch short is how it ends when it has shown enough.
        lines.on('error', () => undefined)
        lines.on('line', (line) => {
          seen.push(line)
          const { type, object } = JSON.parse(line) as { type: string; object: unknown }
          if (!isEnough(object, type)) return
          resolve()
          request.destroy()
        })
        lines.on('close', () => reject(new Error(`Never seen on ${path}: ${seen.slice(-3).join('\n')}`)))
      })
      request.on('error', reject)
      request.end()
    })
  }
}

/** What a Deployment needs to be one. */
export function deployment(name: string, replicas: number): Record<string, unknown> {
  const labels = { app: name }
  const containers = [{ name: 'web', image: 'nginx:1.27' }]
  return {
    metadata: { name },
    spec: { replicas, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } },
  }
}

/** An answer. */
export interface Reply {
  readonly status: number
  readonly text: string
  /** The body as JSON; undefined when it is none. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of any form
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
