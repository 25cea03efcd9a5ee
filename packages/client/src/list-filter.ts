import { type AnyKind, type KubeObject, resourceOf, valueAt } from '@kubewright/api'
import type { ListOptions } from './call-options.ts'

/** The fields of the spec by which kube-apiserver selects objects of built-in kinds, and as what it reads those that are absent. */
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

/** A list as a server can answer it, and what is left to do with its answer. */
export interface SplitList {
  /** What the server is asked. */
  readonly asked: ListOptions
  /** Whether an object of the answer is meant; undefined when all of them are. */
  readonly keeps: ((object: KubeObject) => boolean) | undefined
}

/**
 * Takes the conditions out of a list that the server of the kind cannot select by, to be checked on its answer. Those that it can
 * are checked again as well, because a server compares texts: it cannot tell `1` from `'1'`, nor absence from the empty text.
 */
export function splitList(kind: AnyKind, options: ListOptions): SplitList {
  const where = Object.entries(options.where ?? {})
  if (where.length === 0) return { asked: options, keeps: undefined }
  const selectable = selectableFields(kind)
  const asked: [string, unknown][] = []
  for (const [path, value] of where) {
    const absent = selectable.get(path)
    if (absent !== undefined) asked.push([path, value ?? absent])
  }
  const wanted = where.map(([path, value]) => ({ names: path.split('.'), value: value as unknown }))
  return {
    asked: { ...options, where: Object.fromEntries(asked) },
    keeps: (object) => wanted.every(({ names, value }) => valueAt(object, names) === value),
  }
}

function selectableFields(kind: AnyKind): ReadonlyMap<string, string> {
  const version = resourceOf(kind)?.versions.find(({ name }) => name === kind.version)
  if (version === undefined) return new Map(Object.entries(builtinFields[`${kind.apiVersion}/${kind.kind}`] ?? {}))
  return new Map(version.selectableFields.map((path) => [path.replace(/^\./, ''), '']))
}
