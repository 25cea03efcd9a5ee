const kubeVersion = /^v([1-9][0-9]*)(?:(alpha|beta)([1-9][0-9]*))?$/

/**
 * Compares API versions by Kubernetes' priority, highest first: `v10`, `v2`, `v1`, `v2beta1`, `v1beta2`, `v1alpha1`,
 * then names that are not versions, alphabetically. For `Array.sort`; discovery and CRDs list versions in this order.
 */
export function compareVersionPriority(a: string, b: string): number {
  if (a === b) return 0
  const x = kubeVersion.exec(a)
  const y = kubeVersion.exec(b)
  if (!x || !y) return x ? -1 : y ? 1 : a < b ? -1 : 1
  return stability(y) - stability(x) || compareDigits(y[1]!, x[1]!) || compareDigits(y[3] ?? '0', x[3] ?? '0')
}

function stability(match: RegExpExecArray): number {
  return match[2] === undefined ? 2 : match[2] === 'beta' ? 1 : 0
}

// Numbers have no leading zeros here, so the longer one is larger.
function compareDigits(a: string, b: string): number {
  return a.length - b.length || (a < b ? -1 : a > b ? 1 : 0)
}
