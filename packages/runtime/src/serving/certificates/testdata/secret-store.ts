import { type AnyKind, applyJsonPatch, type JsonPatchOperation, newAlreadyExists, newConflict } from '@kubewright/api'
import { type Clock, deepCopy, type Random } from '@kubewright/base'
import type { Client } from '@kubewright/client'

// biome-ignore lint/suspicious/noExplicitAny: the store holds objects of every kind
type Json = any

/**
 * A fake API server for the objects that hold certificates. Its calls have latency, and sometimes are very late or lose
 * their response.
 */
export class SecretStore {
  readonly objects = new Map<string, Json>()
  /** Called after each write. */
  onWrite: () => void = () => undefined
  writes = 0
  /** Disables late calls and lost responses. */
  calm = true
  readonly #clock: Clock
  readonly #random: Random
  #version = 100

  constructor(clock: Clock, random: Random) {
    this.#clock = clock
    this.#random = random
  }

  put(kind: string, name: string, object: object): void {
    this.objects.set(`${kind}/${name}`, {
      ...object,
      kind,
      metadata: { name, resourceVersion: String(++this.#version) },
    })
  }

  readonly client: Pick<Client, 'find' | 'create' | 'update' | 'patch'> = {
    find: async (kind: AnyKind, key: Json) => {
      await this.#travel()
      const found = this.objects.get(`${kind.kind}/${key.name ?? key}`)
      const copy = found && deepCopy(found)
      await this.#travel()
      return copy
    },
    create: async (draft: Json) => {
      await this.#travel()
      const id = `${draft.kind}/${draft.metadata.name}`
      if (this.objects.has(id)) throw newAlreadyExists({ group: '', resource: 'secrets' }, draft.metadata.name)
      return this.#write(id, draft)
    },
    update: async (object: Json) => {
      await this.#travel()
      const id = `${object.kind}/${object.metadata.name}`
      this.#expect(id, object.metadata.resourceVersion)
      return this.#write(id, object)
    },
    patch: async (kind: AnyKind, name: Json, operations: Json) => {
      await this.#travel()
      const id = `${kind.kind}/${name}`
      const patched = applyJsonPatch(deepCopy(this.objects.get(id)), operations as JsonPatchOperation[]) as Json
      this.#expect(id, patched.metadata.resourceVersion)
      return this.#write(id, patched)
    },
  } as Pick<Client, 'find' | 'create' | 'update' | 'patch'>

  #expect(id: string, resourceVersion: string | undefined): void {
    if (this.objects.get(id)?.metadata.resourceVersion === resourceVersion) return
    throw newConflict({ group: '', resource: 'objects' }, id, new Error('the object has been modified'))
  }

  async #write(id: string, object: Json): Promise<Json> {
    const stored = { ...deepCopy(object), metadata: { ...object.metadata, resourceVersion: String(++this.#version) } }
    this.objects.set(id, stored)
    this.writes++
    this.onWrite()
    await this.#travel()
    if (!this.calm && this.#random.int(20) === 0) throw new Error('connection reset by peer')
    return deepCopy(stored)
  }

  async #travel(): Promise<void> {
    const late = !this.calm && this.#random.int(200) === 0
    await this.#clock.sleep(late ? this.#random.int(2 * 24 * 3_600_000) : this.#random.int(500))
  }
}
