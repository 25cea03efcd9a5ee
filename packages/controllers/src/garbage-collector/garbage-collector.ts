import type { KubeObject } from '@kubewright/api'
import type { ControllerParts, KeyContext, KeyController, Source } from '@kubewright/runtime'
import { defineBuiltinController } from '../workload/define-builtin-controller.ts'
import { AbsentOwners } from './absent-owners.ts'
import { type CollectParts, collect, orphanDependents } from './collect.ts'
import { type GraphWork, type MisplacedOwner, ObjectGraph } from './object-graph.ts'
import { ResourceMonitors } from './resource-monitors.ts'

const controllerName = 'garbage-collector-controller'

interface State {
  readonly graph: ObjectGraph
  readonly absent: AbsentOwners
  /** Objects with owners whose kinds were not served when the objects were evaluated. */
  readonly unserved: Set<string>
  look: (uid: string) => void
}

/** Options of {@link garbageCollector}. */
export interface GarbageCollectorOptions {
  /** Selects the resources to monitor; objects of others are neither owners nor dependents. @default all */
  readonly collects?: ((resource: { readonly group: string; readonly plural: string }) => boolean) | undefined
}

/**
 * Deletes objects whose owners are gone, and carries out foreground and orphan deletions. Monitors every resource that
 * can be watched, including custom resources as they are added and removed.
 */
export function garbageCollector({ collects = () => true }: GarbageCollectorOptions = {}): KeyController {
  // Each run of the controller has one graph, shared by its source and its reconciler.
  const states = new WeakMap<ControllerParts, State>()
  const stateOf = (parts: ControllerParts): State => {
    let state = states.get(parts)
    if (state === undefined) {
      state = { graph: new ObjectGraph(), absent: new AbsentOwners(), unserved: new Set(), look: () => undefined }
      states.set(parts, state)
    }
    return state
  }
  const source: Source = {
    name: 'every resource that can be deleted',
    start(sink, parts) {
      const state = stateOf(parts)
      // With an incomplete graph, almost every owner would have to be read from the server.
      let early: Set<string> | undefined = new Set()
      const add = (key: string): void => {
        if (early === undefined) sink.add(key)
        else early.add(key)
      }
      state.look = (uid) => add(`look/${uid}`)
      const take = ({ look, orphan, misplaced }: GraphWork): void => {
        for (const uid of look) state.look(uid)
        for (const uid of orphan) add(`orphan/${uid}`)
        for (const one of misplaced) tellMisplaced(one, parts)
      }
      const monitors = new ResourceMonitors({
        cluster: parts.cluster,
        clock: parts.clock,
        log: parts.log,
        wants: (resource) => resource.plural !== 'events' && collects(resource),
        handler: {
          knows: (uid) => state.graph.node(uid)?.virtual === false,
          onSet: (object) => take(state.graph.set(object)),
          onDelete: ({ metadata: { uid } }) => {
            const node = state.graph.node(uid)
            // The kind may disappear with the object, and then the owner could no longer be looked up.
            if (node !== undefined) state.absent.add(node.place, uid)
            take(state.graph.delete(uid))
          },
          onForget: ({ metadata: { uid } }) => take(state.graph.delete(uid)),
          onDiscovered: () => {
            const waiting = [...state.unserved]
            state.unserved.clear()
            for (const uid of waiting) state.look(uid)
          },
        },
      })
      const started = monitors.start()
      const complete = started.then(async () => {
        await monitors.synced()
        const keys = early ?? []
        early = undefined
        for (const key of keys) sink.add(key)
      })
      // A failed start rejects `synced` too.
      complete.catch(() => undefined)
      return {
        synced: started.then(() => Promise.race([complete, monitors.syncedSoon()])),
        problem: () => monitors.problems()[0],
        registrations: [],
        [Symbol.asyncDispose]: () => monitors[Symbol.asyncDispose](),
      }
    },
  }
  return defineBuiltinController({
    name: controllerName,
    sources: [source],
    concurrency: 20,
    start: (parts) => {
      const state = stateOf(parts)
      return async (key: string, context: KeyContext) => {
        const collecting: CollectParts = {
          api: parts.cluster.api,
          graph: state.graph,
          absent: state.absent,
          signal: context.signal,
          look: (uid) => state.look(uid),
          lookWhenServed: (uid) => void state.unserved.add(uid),
        }
        const [what, uid = ''] = key.split('/')
        await (what === 'orphan' ? orphanDependents(uid, collecting) : collect(uid, collecting))
      }
    },
  })
}

function tellMisplaced({ dependent: { place, uid }, owner }: MisplacedOwner, { events }: ControllerParts): void {
  const { namespace = '' } = place
  const described = `[${owner.apiVersion}/${owner.kind}, namespace: ${namespace}, name: ${owner.name}, uid: ${owner.uid}]`
  const message = `ownerRef ${described} does not exist in namespace ${JSON.stringify(namespace)}`
  // The recorder uses only the fields of an object reference, so a partial object suffices.
  const { apiVersion, kind, name } = place
  const metadata = { name, uid, ...(place.namespace === undefined ? {} : { namespace }) }
  const regarding = { apiVersion, kind, metadata } as KubeObject
  const reason = 'OwnerRefInvalidNamespace'
  events.record(regarding, { type: 'Warning', reason, message, component: controllerName, api: 'v1' })
}
