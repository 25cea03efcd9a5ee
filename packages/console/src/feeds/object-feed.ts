import { isJsonObject, textOf } from '@kubewright/base'
import { type Json, listAt, objectAt } from '../cluster/json.ts'
import { viewObject } from '../cluster/view-object.ts'
import type { FeedState, Topic, Update } from '../wire/messages.ts'
import type { Feed, FeedContext } from './feed.ts'

/** One object, kept current by a watch. */
export class ObjectFeed implements Feed {
  readonly #stop = new AbortController()
  readonly #context: FeedContext
  readonly #reveal: boolean
  readonly #listening: Disposable
  #object: Json | undefined
  #listed: Json | undefined
  #state: FeedState = 'loading'
  #problem: string | undefined
  #isDirty = false

  constructor({ object, reveal = false }: Extract<Topic, { type: 'object' }>, context: FeedContext) {
    this.#context = context
    this.#reveal = reveal
    // Owners can be shown as links once the kinds are known.
    this.#listening = context.cluster.kinds.listen(() => this.#touch())
    const { resource, namespace, name } = object
    // Items of a list do not state their kind.
    let type: Json = {}
    const typed = (item: Json): Json => ({ ...type, ...item })
    context.cluster.follow({
      signal: this.#stop.signal,
      resource,
      namespace,
      fieldSelector: `metadata.name=${name}`,
      sink: {
        page: (page, isFirst) => {
          const [item] = listAt(page, 'items')
          if (isFirst) this.#listed = undefined
          if (!isJsonObject(page) || item === undefined) return
          type = { apiVersion: page['apiVersion'], kind: textOf(page['kind']).replace(/List$/, '') }
          this.#listed = typed(item)
        },
        listed: () => {
          this.#object = this.#listed
        },
        event: (event, changed) => {
          if (!isJsonObject(changed) || textOf(objectAt(changed, 'metadata')['name']) !== name) return
          this.#object = event === 'DELETED' ? undefined : typed(changed)
          this.#touch()
        },
        state: (state, problem) => {
          this.#state = state
          this.#problem = problem
          this.#touch()
        },
      },
    })
  }

  take(): Update | undefined {
    if (!this.#isDirty) return undefined
    this.#isDirty = false
    const { kinds } = this.#context.cluster.kinds
    const object = this.#object === undefined ? null : viewObject(this.#object, { kinds, reveal: this.#reveal })
    return { type: 'object', object, state: this.#state, problem: this.#problem }
  }

  #touch(): void {
    this.#isDirty = true
    this.#context.changed()
  }

  [Symbol.dispose](): void {
    this.#listening[Symbol.dispose]()
    this.#stop.abort()
  }
}
