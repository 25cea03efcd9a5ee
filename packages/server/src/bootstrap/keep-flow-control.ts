import type { Clock, Logger } from '@kubewright/base'
import { anyChanged } from '../cache/any-changed.ts'
import type { ResourceCache } from '../cache/resource-cache.ts'
import type { ObjectAccess } from '../registry/object-access.ts'
import type { MutableObject } from '../resource/object.ts'
import type { Resource } from '../resource/resource.ts'
import type { SystemWriter } from '../verbs/write/system-writer.ts'
import { flowSchemaObjects, priorityLevelObjects } from './flow-control-objects.ts'

/** The parts of the server that {@link keepFlowControl} uses. */
export interface KeepFlowControlParts extends ObjectAccess {
  readonly writer: SystemWriter
  readonly clock: Clock
  readonly log: Logger
  readonly signal: AbortSignal
}

const autoUpdate = 'apf.kubernetes.io/autoupdate-spec'
/** Objects without which flow control does not work: they are restored whatever their annotation says. */
const mandatory: ReadonlySet<string> = new Set(['exempt', 'catch-all'])
/** kube-apiserver restores the objects every minute. */
const interval = 60_000

/**
 * Keeps the FlowSchemas and priority levels of every cluster in their bootstrap state (pkg/registry/flowcontrol/ensurer): recreates those that
 * were deleted, and restores the spec of those whose annotation allows it. Restores at start, and a minute after a change that needs it.
 * There is no periodic timer, so that an idle server stays idle.
 */
export async function keepFlowControl(parts: KeepFlowControlParts): Promise<void> {
  const { clock, log, signal } = parts
  const kept: { resource: Resource; cache: ResourceCache; wanted: MutableObject[] }[] = []
  for (const [plural, wanted] of [
    ['prioritylevelconfigurations', priorityLevelObjects()],
    ['flowschemas', flowSchemaObjects(clock.now())],
  ] as const) {
    const resource = parts.resources.find('flowcontrol.apiserver.k8s.io', 'v1', plural)
    if (!resource) return
    kept.push({ resource, cache: await parts.registry.feed.cache(resource.storage.prefix), wanted })
  }
  for (let isFirst = true; !signal.aborted; isFirst = false) {
    const changed = anyChanged(
      kept.map(({ cache }) => cache),
      signal,
    )
    const needs = kept.flatMap(({ resource, cache, wanted }) => {
      const current = new Map(cache.list(cache.prefix).map(({ object }) => [object.metadata.name, object]))
      return wanted
        .filter((object) => needsRestore(current.get(object.metadata.name), object))
        .map((object) => ({ resource, object }))
    })
    if (needs.length === 0) {
      await changed
      continue
    }
    if (!isFirst) await clock.sleep(interval, { signal }).catch(() => undefined)
    for (const { resource, object } of needs) {
      if (signal.aborted) return
      await restore(parts, resource, object).catch((error: unknown) => {
        log.error(error, 'Failed to restore an object of flow control', { name: object.metadata.name })
      })
    }
    await changed
  }
}

function needsRestore(current: Readonly<MutableObject> | undefined, wanted: MutableObject): boolean {
  if (!current) return true
  if (covers(current['spec'], wanted['spec'])) return false
  if (mandatory.has(wanted.metadata.name ?? '')) return true
  const annotation = current.metadata.annotations?.[autoUpdate]
  // An object without the annotation is restored until a user has changed it.
  return annotation === undefined ? current.metadata.generation === 1 : annotation === 'true'
}

async function restore(
  { writer, registry }: KeepFlowControlParts,
  resource: Resource,
  wanted: MutableObject,
): Promise<void> {
  const { name = '' } = wanted.metadata
  const stored = await registry.findUnchecked(resource, '', name)
  if (!stored) {
    await writer.ensure(resource.kind.plural, wanted)
    return
  }
  // It may have changed during the wait.
  if (stored.problem !== undefined || !needsRestore(stored.object, wanted)) return
  await writer.update({ resource, name }, (next) => {
    next['spec'] = structuredClone(wanted['spec'])
  })
}

/** Whether a value has all fields of another one. Defaults that the server adds do not count as differences. */
function covers(value: unknown, wanted: unknown): boolean {
  if (Array.isArray(wanted)) {
    return (
      Array.isArray(value) &&
      value.length === wanted.length &&
      wanted.every((item, index) => covers(value[index], item))
    )
  }
  if (typeof wanted !== 'object' || wanted === null) return value === wanted
  if (typeof value !== 'object' || value === null) return false
  return Object.entries(wanted).every(([key, item]) => covers((value as Record<string, unknown>)[key], item))
}
