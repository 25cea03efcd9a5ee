type Labels = Readonly<Record<string, string>> | undefined

/** The labels that kubelets set (k8s.io/kubelet/pkg/apis/well_known_labels.go). */
const kubeletLabels: ReadonlySet<string> = new Set([
  'kubernetes.io/hostname',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
  'beta.kubernetes.io/instance-type',
  'node.kubernetes.io/instance-type',
  'kubernetes.io/os',
  'kubernetes.io/arch',
  'beta.kubernetes.io/os',
  'beta.kubernetes.io/arch',
])

/** The keys whose values differ. */
export function changedLabels(after: Labels = {}, before: Labels = {}): string[] {
  return [...new Set([...Object.keys(after), ...Object.keys(before)])].filter((key) => after[key] !== before[key])
}

/** Whether kubelets must not set, change or remove the label, because it could attract pods to their node. */
export function isForbiddenLabel(label: string): boolean {
  const slash = label.indexOf('/')
  const domain = slash < 0 ? '' : label.slice(0, slash)
  const isIn = (parent: string): boolean => domain === parent || domain.endsWith(`.${parent}`)
  if (isIn('node-restriction.kubernetes.io')) return true
  const isReserved = isIn('kubernetes.io') || isIn('k8s.io')
  return isReserved && !kubeletLabels.has(label) && !isIn('kubelet.kubernetes.io') && !isIn('node.kubernetes.io')
}
