import { formatDuration, textOf } from '@kubewright/base'
import { type Json, objectAt } from '../cluster/json.ts'
import { isSecret, maskSecret } from '../cluster/mask-secret.ts'
import type { KindInfo } from '../wire/names.ts'
import { type Mark, Recording } from './recording.ts'
import { encodeRecording } from './recording-file.ts'

/** States of objects, and the steps that led to them. */
export interface Story {
  /** The name in the page. */
  readonly name: string
  /** Milliseconds since the epoch. The times of states and steps count from here. */
  readonly startedAt: number
  /** In order of time. */
  readonly states: readonly { readonly time: number; readonly object: object; readonly isDeleted: boolean }[]
  /** In order of time. */
  readonly steps: readonly Mark[]
}

const columns = [
  { name: 'Name', type: 'string', description: '', priority: 0 },
  { name: 'Age', type: 'string', description: '', priority: 0 },
]

/** A recording of a story, such as a failed simulation, as the bytes of a file. Values of Secrets are left out. */
export async function recordStory({ name: cluster, startedAt, states, steps }: Story): Promise<Uint8Array> {
  const recording = new Recording({ startedAt, maxSize: Infinity })
  const kinds = new Map<string, KindInfo>()
  for (const { time, object, isDeleted } of states) {
    const json = object as Json
    const kind = kindOf(json)
    kinds.set(`${kind.group}/${kind.plural}`, kind)
    const { group, version, plural } = kind
    const resource = { group, version, plural }
    const shown = isSecret(json) ? maskSecret(json) : json
    const metadata = objectAt(json, 'metadata')
    const [name, uid, created] = ['name', 'uid', 'creationTimestamp'].map((field) => textOf(metadata[field]))
    const namespace = textOf(metadata['namespace']) || undefined
    const at = startedAt + time
    const age = formatDuration(Math.max(0, Math.floor((at - Date.parse(created ?? '')) / 1000) * 1000 || 0))
    const row = { uid: uid ?? '', name: name ?? '', namespace, created: created ?? '', cells: [name ?? '', age] }
    const state = isDeleted ? undefined : { text: JSON.stringify(shown), row }
    recording.add({ resource, uid: row.uid, namespace, name: row.name }, state, at)
    recording.setColumns(resource, columns)
  }
  recording.setKinds([...kinds.values()].sort((a, b) => Number(b.custom) - Number(a.custom)))
  recording.marks = steps.map((step) => ({ ...step, time: startedAt + step.time }))
  const chunks: Uint8Array[] = []
  for await (const chunk of encodeRecording({ recording, cluster, operators: [] })) chunks.push(chunk)
  return Buffer.concat(chunks)
}

function kindOf(object: Json): KindInfo {
  const [apiVersion, kind] = [textOf(object['apiVersion']), textOf(object['kind'])]
  const slash = apiVersion.indexOf('/')
  const group = slash < 0 ? '' : apiVersion.slice(0, slash)
  return {
    group,
    version: apiVersion.slice(slash + 1),
    plural: pluralOf(kind),
    kind,
    namespaced: textOf(objectAt(object, 'metadata')['namespace']) !== '',
    shortNames: [],
    verbs: [],
    subresources: [],
    custom: group.includes('.') && !group.endsWith('.k8s.io'),
  }
}

/** The usual plural of a kind. There is no discovery that would state it; the page shows it only in addresses. */
function pluralOf(kind: string): string {
  const name = kind.toLowerCase()
  if (name === 'endpoints') return name
  if (/[^aeiou]y$/.test(name)) return `${name.slice(0, -1)}ies`
  return /(s|x|ch|sh)$/.test(name) ? `${name}es` : `${name}s`
}
