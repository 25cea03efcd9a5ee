import { isJsonObject } from '@kubewright/base'
import type { Json } from '../cluster/json.ts'
import type { PageRequest, Topic } from '../wire/messages.ts'
import type { ObjectName, ResourceName } from '../wire/names.ts'
import { parseLeverAction } from './lever-request.ts'

// More than the page ever shows at once.
const maxChanges = 1000

/** Checks the body of a request. Returns undefined for one that the page does not send. */
export function parsePageRequest(body: unknown): PageRequest | undefined {
  if (!isJsonObject(body)) return undefined
  const { type, stream, id } = body
  const isText = (field: string): boolean => typeof body[field] === 'string'
  switch (type) {
    case 'follow': {
      const topic = topicOf(body['topic'])
      if (typeof stream !== 'string' || typeof id !== 'number' || topic === undefined) return undefined
      return { type, stream, id, topic }
    }
    case 'unfollow':
      return typeof stream === 'string' && typeof id === 'number' ? { type, stream, id } : undefined
  }
  const resource = resourceOf(body['resource'])
  if (type === 'schema') return resource && { type, resource }
  if (type === 'create') {
    const { yaml, dryRun } = body
    if (resource === undefined || typeof yaml !== 'string') return undefined
    return { type, resource, namespace: textOr(body, 'namespace'), yaml, dryRun: dryRun !== false }
  }
  const terminal = textOr(body, 'terminal')
  if (type === 'input')
    return terminal !== undefined && isText('text') ? { type, terminal, text: String(body['text']) } : undefined
  if (type === 'endTerminal') return terminal === undefined ? undefined : { type, terminal }
  if (type === 'stopForward') return isMoment(id) ? { type, id } : undefined
  const object = objectOf(body['object'])
  const lever = parseLeverAction(body, { object, resource })
  if (lever !== undefined || object === undefined) return lever
  switch (type) {
    case 'source':
    case 'access':
    case 'restart':
    case 'evict':
    case 'cordon':
    case 'uncordon':
    case 'drain':
      return { type, object }
    case 'exec': {
      const [container, command] = [textOr(body, 'container'), body['command']]
      if (container === undefined || !Array.isArray(command) || command.length === 0) return undefined
      return command.every((word) => typeof word === 'string') ? { type, object, container, command } : undefined
    }
    case 'forward': {
      const [port, localPort] = [body['port'], body['localPort']]
      return isPort(port) && port > 0 && isPort(localPort) ? { type, object, port, localPort } : undefined
    }
    case 'compare': {
      const [from, to] = [body['from'], body['to']]
      return isMoment(from) && isMoment(to) ? { type, object, from, to } : undefined
    }
    case 'scale': {
      const { replicas } = body
      const isCount = typeof replicas === 'number' && Number.isInteger(replicas) && replicas >= 0
      return isCount ? { type, object, replicas } : undefined
    }
    case 'label': {
      const { labels } = body
      if (!isJsonObject(labels) || !Object.values(labels).every((value) => value === null || typeof value === 'string'))
        return undefined
      return { type, object, labels: labels as Record<string, string | null> }
    }
    case 'delete': {
      const { propagation, uid } = body
      if (propagation !== 'Background' && propagation !== 'Foreground' && propagation !== 'Orphan') return undefined
      return typeof uid === 'string' && uid !== '' ? { type, object, propagation, uid } : undefined
    }
    case 'edit': {
      const { mode, source, yaml, force, dryRun } = body
      if ((mode !== 'apply' && mode !== 'replace') || !isText('source') || !isText('yaml')) return undefined
      const texts = { source: source as string, yaml: yaml as string }
      return { type, object, mode, ...texts, force: force === true, dryRun: dryRun !== false }
    }
  }
  return undefined
}

function topicOf(topic: unknown): Topic | undefined {
  if (!isJsonObject(topic)) return undefined
  const { at } = topic
  if (at !== undefined && !isMoment(at)) return undefined
  const known = knownTopic(topic)
  return known === undefined || at === undefined ? known : { ...known, at }
}

function knownTopic(topic: Json): Topic | undefined {
  const { type, limit } = topic
  if (type === 'kinds' || type === 'operators' || type === 'levers' || type === 'forwards' || type === 'timeline')
    return { type }
  if (type === 'changes') return isMoment(limit) && limit <= maxChanges ? { type, limit } : undefined
  if (type === 'table') {
    const resource = resourceOf(topic['resource'])
    if (resource === undefined) return undefined
    const text = (field: string): string | undefined => textOr(topic, field)
    return {
      type,
      resource,
      namespace: text('namespace'),
      labelSelector: text('labelSelector'),
      fieldSelector: text('fieldSelector'),
    }
  }
  const terminal = textOr(topic, 'terminal')
  if (type === 'terminal') return terminal === undefined ? undefined : { type, terminal }
  const object = objectOf(topic['object'])
  if (object === undefined) return undefined
  if (type === 'object') return { type, object, reveal: topic['reveal'] === true }
  const container = textOr(topic, 'container')
  if (type === 'logs' && container !== undefined)
    return { type, object, container, previous: topic['previous'] === true }
  return type === 'graph' || type === 'history' ? { type, object } : undefined
}

/** Moments and counts are whole numbers from 0. */
const isMoment = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0

const isPort = (value: unknown): value is number => isMoment(value) && value <= 65_535

function objectOf(value: unknown): ObjectName | undefined {
  if (!isJsonObject(value)) return undefined
  const resource = resourceOf(value['resource'])
  const name = textOr(value, 'name')
  if (resource === undefined || name === undefined) return undefined
  return { resource, name, namespace: textOr(value, 'namespace') }
}

function resourceOf(value: unknown): ResourceName | undefined {
  if (!isJsonObject(value)) return undefined
  const { group, version, plural } = value
  if (typeof group !== 'string' || typeof version !== 'string' || typeof plural !== 'string') return undefined
  return { group, version, plural }
}

/** A field that is a text and not empty. */
function textOr(value: Json, field: string): string | undefined {
  const text = value[field]
  return typeof text === 'string' && text !== '' ? text : undefined
}
