import { admissionPlugins } from '../plugins/admission-plugins.ts'
import { PlainServer } from './plain-server.ts'
import { pluginParts } from './plugin-parts.ts'

/** A server with all default admission plugins and no access control. `create` returns the object, or the message of the error. */
export class AdmissionServer implements AsyncDisposable {
  readonly plain: PlainServer

  private constructor(plain: PlainServer) {
    this.plain = plain
  }

  static async start(): Promise<AdmissionServer> {
    const plain = await PlainServer.start([], async (parts) => ({ admission: admissionPlugins(pluginParts(parts)) }))
    return new AdmissionServer(plain)
  }

  /** Sends an object. Later requests see this write. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into objects of every shape
  async send(method: string, path: string, body?: object, type = 'application/json'): Promise<any> {
    const headers = { 'content-type': type }
    const answer = await this.plain.send(`${method} ${path}`, { ...(body ? { body } : {}), headers })
    const { feed, store } = this.plain.server.parts.registry
    await feed.reached(await store.revision())
    return answer.status < 400 ? answer.body : answer.body.message
  }

  // biome-ignore lint/suspicious/noExplicitAny: tests look into objects of every shape
  create(path: string, name: string, more: object = {}): Promise<any> {
    return this.send('POST', path, { metadata: { name }, ...more })
  }

  /** Creates a namespace with the service account that pods need. */
  async namespace(name: string, labels: Record<string, string> = {}): Promise<string> {
    await this.send('POST', '/api/v1/namespaces', { metadata: { name, labels }, status: { phase: 'Active' } })
    const path = `/api/v1/namespaces/${name}`
    await this.create(`${path}/serviceaccounts`, 'default')
    return path
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.plain[Symbol.asyncDispose]()
  }
}
