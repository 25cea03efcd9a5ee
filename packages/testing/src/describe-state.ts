import { type AnyKind, encodeYaml, formatKey, type KubeObject, toNameAndNamespace } from '@kubewright/api'
import { errorText, formatDuration } from '@kubewright/base'
import type { ApiClient, Key } from '@kubewright/client'
import { Event } from '@kubewright/k8s'
import type { ControllerRunner, ReconcileRecord } from '@kubewright/runtime'
import { userStack } from './user-stack.ts'

/** Describes an object for the error of a failed wait: its state, its events and its last reconciles. */
export async function describeState(
  client: ApiClient,
  runners: readonly ControllerRunner[],
  kind: AnyKind,
  key: Key,
  namespace: string,
): Promise<string> {
  const { name, namespace: named = namespace } = toNameAndNamespace(key)
  const where = kind.scope === 'Namespaced' ? named : undefined
  const parts = [
    await objectText(client, kind, name, where),
    await eventsText(client, kind, name, named),
    reconcilesText(runners, formatKey(name, where)),
    failureText(runners, formatKey(name, where)),
    problemsText(runners),
  ]
  return parts.filter((part) => part !== '').join('\n\n')
}

async function objectText(
  client: ApiClient,
  kind: AnyKind,
  name: string,
  namespace: string | undefined,
): Promise<string> {
  try {
    const object: KubeObject | undefined = await client.find(kind, { name, namespace })
    if (object === undefined) return `${kind.kind} ${formatKey(name, namespace)} does not exist.`
    const { managedFields: _, ...metadata } = object.metadata
    return `The object is:\n${indent(encodeYaml({ ...object, metadata }))}`
  } catch (error) {
    return `The object cannot be read: ${errorText(error)}`
  }
}

async function eventsText(client: ApiClient, kind: AnyKind, name: string, namespace: string): Promise<string> {
  try {
    const fields = { 'involvedObject.kind': kind.kind, 'involvedObject.name': name }
    const events = await client.list(Event, { namespace: kind.scope === 'Namespaced' ? namespace : 'default', fields })
    if (events.length === 0) return ''
    const lines = events.slice(-10).map(({ type, reason, message }) => `  ${type} ${reason}: ${message}`)
    return `Its events:\n${lines.join('\n')}`
  } catch {
    // Events are only supplementary: omit them when they cannot be read.
    return ''
  }
}

function reconcilesText(runners: readonly ControllerRunner[], key: string): string {
  const records = runners.flatMap((runner) => runner.recent()).filter((record) => record.key === key)
  const newest = records.sort((a, b) => b.startedAt - a.startedAt).slice(0, 5)
  if (newest.length === 0) return 'No controller has reconciled it.'
  return `Its last reconciles, newest first:\n${newest.map((record) => `  ${recordText(record)}`).join('\n')}`
}

/** The last failure of a reconcile of the object or, without one, of any object, with the stack of the user's code. */
export function failureText(runners: readonly ControllerRunner[], key?: string): string {
  const failed = runners.flatMap((runner) => runner.recent()).filter(({ error }) => error !== undefined)
  const newest = failed.sort((a, b) => b.startedAt - a.startedAt)
  const record = newest.find((each) => each.key === key) ?? newest[0]
  if (record === undefined) return ''
  return `The last failed reconcile was ${record.controller} of ${record.key}:\n${indent(userStack(record.error))}`
}

function recordText({
  controller,
  result,
  durationMillis,
  causes,
  error,
  requeueAfterMillis,
}: ReconcileRecord): string {
  const why = causes.map(({ event, kind = '', object = '' }) => [event, kind, object].filter(Boolean).join(' '))
  const more = error === undefined ? '' : `: ${errorText(error)}`
  const again = requeueAfterMillis === undefined ? '' : `, again in ${formatDuration(Math.round(requeueAfterMillis))}`
  return `${controller} ${result} after ${Math.round(durationMillis)} ms${again}${more} (${why.join('; ') || 'no cause'})`
}

function problemsText(runners: readonly ControllerRunner[]): string {
  const problems = runners.flatMap((runner) => runner.problems().map((problem) => `  ${runner.name}: ${problem}`))
  return problems.length === 0 ? '' : `Controllers with problems:\n${problems.join('\n')}`
}

const indent = (text: string): string => text.trimEnd().replace(/^/gm, '  ')
