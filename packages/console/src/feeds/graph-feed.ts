import { textOf } from '@kubewright/base'
import { type Json, listAt, objectAt } from '../cluster/json.ts'
import { ownerName } from '../cluster/view-object.ts'
import type { FeedState, GraphNode, Topic, Update } from '../wire/messages.ts'
import type { KindInfo, ObjectName } from '../wire/names.ts'
import type { Feed, FeedContext } from './feed.ts'

// Kinds with many objects that own nothing.
const skipped = new Set(['events', 'events.k8s.io/events'])

/** The metadata of an object that the graph needs. */
interface Member {
  readonly node: GraphNode
  /** The owner references. */
  readonly owners: readonly Json[]
}

/**
 * The owners of an object and everything that depends on it. Watches the metadata of all kinds in the object's
 * namespace while the graph is shown; for an object of cluster scope, in all namespaces.
 */
export class GraphFeed implements Feed {
  readonly #stop = new AbortController()
  readonly #context: FeedContext
  readonly #root: ObjectName
  readonly #members = new Map<string, Member>()
  readonly #followed = new Set<string>()
  readonly #loading = new Set<string>()
  readonly #listening: Disposable
  #sent = ''
  #isDirty = true

  constructor({ object }: Extract<Topic, { type: 'graph' }>, context: FeedContext) {
    this.#context = context
    this.#root = object
    this.#listening = context.cluster.kinds.listen(() => this.#followKinds())
    this.#followKinds()
  }

  take(): Update | undefined {
    if (!this.#isDirty) return undefined
    this.#isDirty = false
    const state: FeedState = this.#loading.size > 0 || this.#followed.size === 0 ? 'loading' : 'live'
    const update: Update = { type: 'graph', ...this.#connected(), state }
    const text = JSON.stringify(update)
    // Most changes of other objects do not change the graph.
    if (text === this.#sent) return undefined
    this.#sent = text
    return update
  }

  #followKinds(): void {
    for (const kind of this.#context.cluster.kinds.kinds) {
      const id = kind.group === '' ? kind.plural : `${kind.group}/${kind.plural}`
      if (this.#followed.has(id) || skipped.has(id) || !kind.verbs.includes('watch')) continue
      if (this.#root.namespace === undefined || kind.namespaced) this.#follow(kind, id)
    }
  }

  #follow(kind: KindInfo, id: string): void {
    this.#followed.add(id)
    this.#loading.add(id)
    const own = new Set<string>()
    let listed = new Set<string>()
    const put = (object: Json): void => {
      const { uid } = this.#put(kind, object)
      own.add(uid)
      listed.add(uid)
    }
    const remove = (uid: string): void => {
      own.delete(uid)
      this.#members.delete(uid)
    }
    this.#context.cluster.follow({
      signal: this.#stop.signal,
      resource: kind,
      namespace: this.#root.namespace,
      form: 'metadata',
      sink: {
        page: (page, isFirst) => {
          if (isFirst) listed = new Set()
          for (const item of listAt(page, 'items')) put(item)
        },
        listed: () => {
          for (const uid of [...own]) if (!listed.has(uid)) remove(uid)
        },
        event: (type, object) => {
          const uid = textOf(objectAt(object, 'metadata')['uid'])
          if (type === 'DELETED') remove(uid)
          else put(object as Json)
          this.#touch()
        },
        state: () => {
          // A kind that the user may not list is left out.
          this.#loading.delete(id)
          this.#touch()
        },
      },
    })
  }

  #put({ group, version, plural, kind }: KindInfo, object: Json): GraphNode {
    const metadata = objectAt(object, 'metadata')
    const [uid, name] = [textOf(metadata['uid']), textOf(metadata['name'])]
    const namespace = textOf(metadata['namespace']) || undefined
    const found = { resource: { group, version, plural }, name, namespace }
    const deleting = metadata['deletionTimestamp'] !== undefined
    const node = { uid, kind, name, object: found, deleting }
    this.#members.set(uid, { node, owners: listAt(metadata, 'ownerReferences') })
    return node
  }

  /** The nodes that are connected with the object through owners, upwards and then downwards. */
  #connected(): { readonly nodes: GraphNode[]; readonly edges: (readonly [string, string])[] } {
    const nodes = new Map<string, GraphNode>()
    const edges: (readonly [string, string])[] = []
    const dependents = new Map<string, string[]>()
    for (const [uid, { owners }] of this.#members) {
      for (const owner of owners) {
        const ownerUid = textOf(owner['uid'])
        const list = dependents.get(ownerUid)
        if (list === undefined) dependents.set(ownerUid, [uid])
        else list.push(uid)
      }
    }
    const visited = new Set<string>()
    const waiting = this.#topsOf(this.#rootUid(), nodes)
    for (let uid = waiting.pop(); uid !== undefined; uid = waiting.pop()) {
      if (visited.has(uid)) continue
      visited.add(uid)
      const member = this.#members.get(uid)
      if (member !== undefined) nodes.set(uid, member.node)
      for (const child of dependents.get(uid) ?? []) {
        edges.push([uid, child])
        waiting.push(child)
      }
    }
    return { nodes: [...nodes.values()], edges }
  }

  /** The owners without an owner of their own, starting from an object. Adds owners that are not members to the nodes. */
  #topsOf(start: string | undefined, nodes: Map<string, GraphNode>): string[] {
    const tops: string[] = []
    const { kinds } = this.#context.cluster.kinds
    const seen = new Set<string>()
    const up = (uid: string): void => {
      if (seen.has(uid)) return
      seen.add(uid)
      const member = this.#members.get(uid)
      if (member === undefined || member.owners.length === 0) {
        tops.push(uid)
        return
      }
      for (const owner of member.owners) {
        const ownerUid = textOf(owner['uid'])
        if (!this.#members.has(ownerUid)) {
          const object = ownerName(owner, this.#root.namespace, kinds)
          const node = { uid: ownerUid, kind: textOf(owner['kind']), name: textOf(owner['name']), object }
          nodes.set(ownerUid, { ...node, deleting: false })
        }
        up(ownerUid)
      }
    }
    if (start !== undefined) up(start)
    return tops
  }

  #rootUid(): string | undefined {
    const { name, namespace, resource } = this.#root
    for (const [uid, { node }] of this.#members) {
      const { object } = node
      if (
        node.name === name &&
        object?.namespace === namespace &&
        object?.resource.plural === resource.plural &&
        object.resource.group === resource.group
      )
        return uid
    }
    return undefined
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
