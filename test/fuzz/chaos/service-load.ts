import type { Random } from '@kubewright/base'
import { sendAnywhere } from '../../servers/server-group.ts'
import type { Requests } from '../../up/requests.ts'

const path = '/api/v1/namespaces/default/services'
/** The number of services that exist at the same time. */
const wanted = 60

interface Service {
  readonly metadata: { readonly name: string }
  readonly spec: { readonly clusterIP: string; readonly ports: readonly { readonly nodePort?: number }[] }
}

const pause = (millis: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, millis))

/** Creates and deletes services on all servers and verifies that no address or port is allocated twice. */
export class ServiceLoad {
  readonly mistakes: string[] = []
  created = 0
  deleted = 0
  readonly #clients: readonly Requests[]
  readonly #random: Random
  /** The services whose creation was acknowledged and whose deletion was not requested. */
  readonly #alive = new Map<string, Service>()
  #count = 0

  constructor(clients: readonly Requests[], random: Random) {
    this.#clients = clients
    this.#random = random
  }

  async run(isOver: () => boolean): Promise<void> {
    const worker = async (): Promise<void> => {
      while (!isOver()) {
        if (this.#alive.size < wanted && this.#random.next() < 0.7) await this.#create()
        else await this.#delete()
        await pause(20)
      }
    }
    await Promise.all([worker(), worker(), worker()])
  }

  /** Verifies all services; `isLast` also that none is lost. */
  async check(isLast = false): Promise<string[]> {
    const expected = [...this.#alive.keys()]
    const { body } = await sendAnywhere(this.#clients, this.#random.int(8), { method: 'GET', path })
    const found = body.items as Service[]
    const mistakes = [
      ...twice(found, (service) => [service.spec.clusterIP], 'cluster IP'),
      ...twice(found, ({ spec }) => spec.ports.flatMap(({ nodePort }) => (nodePort ? [nodePort] : [])), 'node port'),
    ]
    if (!isLast) return mistakes
    const names = new Set(found.map(({ metadata }) => metadata.name))
    return [...mistakes, ...expected.filter((name) => !names.has(name)).map((name) => `service ${name} was lost`)]
  }

  async #create(): Promise<void> {
    const name = `s-${this.#count++}`
    const body = { metadata: { name }, spec: { type: 'NodePort', ports: [{ port: 80 }] } }
    const reply = await sendAnywhere(this.#clients, this.#random.int(8), { method: 'POST', path, body })
    if (reply.status === 201) {
      this.created++
      this.#alive.set(name, reply.body as Service)
    } else if (reply.status === 409 && reply.attempts > 1) {
      // An earlier attempt was successful, although its response was lost.
      this.created++
    } else this.mistakes.push(`creation of service ${name}: ${reply.status} ${reply.text.slice(0, 300)}`)
  }

  async #delete(): Promise<void> {
    const names = [...this.#alive.keys()]
    const name = names[this.#random.int(names.length || 1)]
    if (name === undefined) return
    this.#alive.delete(name)
    const reply = await sendAnywhere(this.#clients, this.#random.int(8), { method: 'DELETE', path: `${path}/${name}` })
    if (reply.status === 200 || (reply.status === 404 && reply.attempts > 1)) this.deleted++
    else this.mistakes.push(`deletion of service ${name}: ${reply.status} ${reply.text.slice(0, 300)}`)
  }
}

function twice<T>(services: readonly Service[], valuesOf: (service: Service) => readonly T[], what: string): string[] {
  const owners = new Map<T, string>()
  const found: string[] = []
  for (const service of services) {
    for (const value of valuesOf(service)) {
      const owner = owners.get(value)
      if (owner !== undefined) found.push(`${what} ${String(value)} belongs to ${owner} and ${service.metadata.name}`)
      owners.set(value, service.metadata.name)
    }
  }
  return found
}
