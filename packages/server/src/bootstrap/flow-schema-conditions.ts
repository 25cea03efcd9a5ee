import { isConflict, isNotFound } from '@kubewright/api'
import { goQuote, type Logger } from '@kubewright/base'
import type * as flowcontrol from '@kubewright/k8s/flowcontrol/v1'
import { anyChanged } from '../cache/any-changed.ts'
import type { ObjectAccess } from '../registry/object-access.ts'
import type { MutableObject } from '../resource/object.ts'
import type { Resource } from '../resource/resource.ts'
import type { SystemWriter } from '../verbs/write/system-writer.ts'

const manager = 'api-priority-and-fairness-config-consumer-v1'

/** The parts of the server that {@link followFlowSchemas} uses. */
export interface FlowSchemaParts extends ObjectAccess {
  readonly writer: SystemWriter
  readonly log: Logger
  readonly signal: AbortSignal
}

/** Maintains the condition Dangling of FlowSchemas, which says whether their priority level exists. Ends with the server. */
export async function followFlowSchemas(parts: FlowSchemaParts): Promise<void> {
  const { signal } = parts
  const find = (plural: string): Resource | undefined =>
    parts.resources.find('flowcontrol.apiserver.k8s.io', 'v1', plural)
  const [resource, levels] = [find('flowschemas'), find('prioritylevelconfigurations')]
  if (!resource || !levels) return
  const schemaCache = await parts.registry.feed.cache(resource.storage.prefix)
  const levelCache = await parts.registry.feed.cache(levels.storage.prefix)
  while (!signal.aborted) {
    const changed = anyChanged([schemaCache, levelCache], signal)
    const known = new Set(levelCache.list(levelCache.prefix).map(({ object }) => object.metadata.name))
    for (const { object } of schemaCache.list(schemaCache.prefix)) {
      try {
        await updateCondition(parts, resource, object, known)
      } catch (error) {
        // A conflicting write is a change itself and leads to the next round.
        if (!signal.aborted && !isConflict(error) && !isNotFound(error)) {
          parts.log.error(error, 'Failed to write the status of a FlowSchema', { name: object.metadata.name })
        }
      }
    }
    await changed
  }
}

async function updateCondition(
  parts: FlowSchemaParts,
  resource: Resource,
  object: Readonly<MutableObject>,
  levels: ReadonlySet<string | undefined>,
): Promise<void> {
  const { spec, status } = object as unknown as flowcontrol.FlowSchema
  const wanted = danglingCondition(spec?.priorityLevelConfiguration.name ?? '', levels)
  const { name = '' } = object.metadata
  const current = status?.conditions?.find(({ type }) => type === wanted.type)
  if (current?.status === wanted.status && current.reason === wanted.reason && current.message === wanted.message) {
    return
  }
  const conditions = (): object[] => [{ ...wanted, lastTransitionTime: parts.registry.timestamp() }]
  const target = { resource, subresource: 'status', name }
  await parts.writer.apply(target, () => ({ status: { conditions: conditions() } }), manager)
}

function danglingCondition(
  level: string,
  levels: ReadonlySet<string | undefined>,
): Omit<Required<flowcontrol.FlowSchemaCondition>, 'lastTransitionTime'> {
  const found = levels.has(level)
  return {
    type: 'Dangling',
    status: found ? 'False' : 'True',
    reason: found ? 'Found' : 'NotFound',
    message:
      `This FlowSchema references the PriorityLevelConfiguration object named ${goQuote(level)} ` +
      (found ? 'and it exists' : 'but there is no such object'),
  }
}
