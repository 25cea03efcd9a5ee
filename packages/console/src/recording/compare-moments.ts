import { encodeYaml } from '@kubewright/api'
import { unifiedDiff } from '@kubewright/base'
import { type Json, objectAt } from '../cluster/json.ts'
import type { ObjectName } from '../wire/names.ts'
import { type Recording, stateAt } from './recording.ts'

/** The unified diff of an object's YAML between two moments. An object that does not exist is empty. */
export function compareMoments(recording: Recording, object: ObjectName, from: number, to: number): string[] {
  return unifiedDiff(linesAt(recording, object, from), linesAt(recording, object, to))
}

function linesAt(recording: Recording, { resource, namespace, name }: ObjectName, moment: number): string[] {
  for (const recorded of recording.objectsOf(resource)) {
    if (recorded.name !== name || recorded.namespace !== namespace) continue
    const state = stateAt(recorded, moment)
    if (state === undefined) continue
    const object = JSON.parse(state.text) as Json
    // Both change with every write and say nothing about the object.
    const { managedFields: _, resourceVersion: __, ...metadata } = objectAt(object, 'metadata')
    return encodeYaml({ ...object, metadata }).split('\n')
  }
  return []
}
