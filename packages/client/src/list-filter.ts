import { type AnyKind, type KubeObject, resourceOf, valueAt } from '@kubewright/api'
import type { ListOptions } from './call-options.ts'

/** The fields of the spec by which kube-apiserver selects objects of built-in kinds. */
const builtinFields: Readonly<Record<string, readonly string[]>> = {
  'v1/Pod': [
    'spec.nodeName',
    'spec.restartPolicy',
    'spec.schedulerName',
    'spec.serviceAccountName',
    'spec.hostNetwork',
  ],
  'v1/Node': ['spec.unschedulable'],
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
  const selectable = new Set(selectableFields(kind))
  const asked = Object.fromEntries(where.filter(([path, value]) => selectable.has(path) && value !== undefined))
  const wanted = where.map(([path, value]) => ({ names: path.split('.'), value: value as unknown }))
  return {
    asked: { ...options, where: asked },
    keeps: (object) => wanted.every(({ names, value }) => valueAt(object, names) === value),
  }
}

function selectableFields(kind: AnyKind): readonly string[] {
  const version = resourceOf(kind)?.versions.find(({ name }) => name === kind.version)
  if (version === undefined) return builtinFields[`${kind.apiVersion}/${kind.kind}`] ?? []
  return version.selectableFields.map((path) => path.replace(/^\./, ''))
}
