import { type AnyKind, type KubeObject, resourceOf, valueAt } from '@kubewright/api'
import type { ListOptions } from './call-options.ts'

/** The spec fields of built-in kinds that kube-apiserver can select by, and the values that it uses for absent fields. */
const builtinFields: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'v1/Pod': {
    'spec.nodeName': '',
    'spec.restartPolicy': '',
    'spec.schedulerName': '',
    'spec.serviceAccountName': '',
    'spec.hostNetwork': 'false',
  },
  'v1/Node': { 'spec.unschedulable': 'false' },
}

/** A list request split into what the server selects and what the client filters. */
export interface SplitList {
  /** The options for the server. */
  readonly serverOptions: ListOptions
  /** Filters the objects of the response; undefined when none must be removed. */
  readonly filter: ((object: KubeObject) => boolean) | undefined
}

/**
 * Splits off the `where` conditions that the server cannot select by, for the client to check. The client also checks
 * the conditions that the server can select by, because a server compares texts: it cannot distinguish `1` from `'1'`
 * or absence from the empty string.
 */
export function splitList(kind: AnyKind, options: ListOptions): SplitList {
  const where = Object.entries(options.where ?? {})
  if (where.length === 0) return { serverOptions: options, filter: undefined }
  const selectable = selectableFields(kind)
  const selected: [string, unknown][] = []
  for (const [path, value] of where) {
    const absent = selectable.get(path)
    if (absent !== undefined) selected.push([path, value ?? absent])
  }
  const wanted = where.map(([path, value]) => ({ names: path.split('.'), value: value as unknown }))
  return {
    serverOptions: { ...options, where: Object.fromEntries(selected) },
    filter: (object) => wanted.every(({ names, value }) => valueAt(object, names) === value),
  }
}

function selectableFields(kind: AnyKind): ReadonlyMap<string, string> {
  const version = resourceOf(kind)?.versions.find(({ name }) => name === kind.version)
  if (version === undefined) return new Map(Object.entries(builtinFields[`${kind.apiVersion}/${kind.kind}`] ?? {}))
  return new Map(version.selectableFields.map((path) => [path.replace(/^\./, ''), '']))
}
