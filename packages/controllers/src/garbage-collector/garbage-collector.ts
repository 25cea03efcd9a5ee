import type { KubeObject } from '@kubewright/api'
import type { ControllerParts, KeyContext, KeyController, Source } from '@kubewright/runtime'
import { defineBuiltin } from '../workload/define-builtin.ts'
import { AbsentOwners, type CollectParts, collect, orphanDependents } from './collect.ts'
import { type GraphWork, ObjectGraph } from './object-graph.ts'
import { ResourceMonitors } from './resource-monitors.ts'

interface State {
  readonly graph: ObjectGraph
  readonly absent: AbsentOwners
  look: (uid: string) => void
}

/**
 * Deletes objects whose owners are gone, and carries out deletions that wait for dependents or let them go. Knows every resource
 * that can be watched, custom ones as they come and go.
 */
export function garbageCollector(): KeyController {
  // One graph for each run of the controller, shared by its source and its reconciler.
  const states = new WeakMap<ControllerParts, State>()
  const stateOf = (parts: ControllerParts): State => {
    let state = states.get(parts)
    if (state === undefined) {
      state = { graph: new ObjectGraph(), absent: new AbsentOwners(), look: () => undefined }
      states.set(parts, state)
    }
    return state
  }
  const source: Source = {
    name: 'every resource that can be deleted',
    start(sink, parts) {
      const state = stateOf(parts)
      state.look = (uid) => sink.add(`look/${uid}`)
      const take = ({ look, orphan }: GraphWork): void => {
        for (const uid of look) sink.add(`look/${uid}`)
        for (const uid of orphan) sink.add(`orphan/${uid}`)
      }
      const monitors = new ResourceMonitors({
        cluster: parts.cluster,
        clock: parts.clock,
        log: parts.log,
        wants: ({ plural }) => plural !== 'events',
        handler: {
          onSet: (object) => take(state.graph.set(object)),
          onDelete: ({ metadata: { uid } }) => take(state.graph.delete(uid)),
        },
      })
      return {
        synced: monitors.synced(),
        problem: () => monitors.problems()[0],
        registrations: [],
        [Symbol.asyncDispose]: () => monitors[Symbol.asyncDispose](),
      }
    },
  }
  return defineBuiltin({
    name: 'garbage-collector-controller',
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
          warn: (object: KubeObject, reason, message) =>
            parts.events.record(object, { type: 'Warning', reason, message }),
        }
        const [what, uid = ''] = key.split('/')
        await (what === 'orphan' ? orphanDependents(uid, collecting) : collect(uid, collecting))
      }
    },
  })
}
