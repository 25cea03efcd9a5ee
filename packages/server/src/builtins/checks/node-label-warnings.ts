import { isValidLabelValue } from '@kubewright/base'
import type { FieldPath } from '@kubewright/schema'

const deprecated: ReadonlyMap<string, string> = new Map([
  ['beta.kubernetes.io/arch', 'deprecated since v1.14; use "kubernetes.io/arch" instead'],
  ['beta.kubernetes.io/os', 'deprecated since v1.14; use "kubernetes.io/os" instead'],
  ['failure-domain.beta.kubernetes.io/region', 'deprecated since v1.17; use "topology.kubernetes.io/region" instead'],
  ['failure-domain.beta.kubernetes.io/zone', 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead'],
  ['beta.kubernetes.io/instance-type', 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead'],
  ['app.kubernetes.io/created-by', 'deprecated since v1.9'],
  ['scheduler.alpha.kubernetes.io/preferAvoidPods', 'deprecated since v1.22; use Taints and Tolerations instead'],
  ['node-role.kubernetes.io/master', 'use "node-role.kubernetes.io/control-plane" instead'],
])

/** The deprecation notice of a node label; undefined if the label is not deprecated. */
export function deprecatedNodeLabel(key: string): string | undefined {
  return deprecated.get(key)
}

interface Term {
  matchExpressions?: { key?: string | undefined; values?: string[] | undefined }[] | undefined
}

/** Warns about deprecated labels in a node selector term and, with `checkValues`, about invalid values. */
export function nodeSelectorTermWarnings(term: Term, checkValues: boolean, path: FieldPath): string[] {
  const warnings: string[] = []
  for (const [i, { key = '', values = [] }] of (term.matchExpressions ?? []).entries()) {
    const at = path.child('matchExpressions').index(i)
    const text = deprecated.get(key)
    if (text) warnings.push(`${at.child('key')}: ${key} is ${text}`)
    if (!checkValues) continue
    for (const [j, value] of values.entries()) {
      for (const problem of isValidLabelValue(value)) {
        warnings.push(`${at.child('values').index(j)}: ${value} is invalid, ${problem}`)
      }
    }
  }
  return warnings
}
