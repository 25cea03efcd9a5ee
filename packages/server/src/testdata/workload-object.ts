/** A pod template with the label app=x. */
export const podTemplate = {
  metadata: { labels: { app: 'x' } },
  spec: { containers: [{ name: 'c', image: 'nginx:1.25' }] },
}

/** A valid workload of the group apps that selects its pods by the label app=x. */
export function workload(kind: string, spec: object = {}, metadata: object = {}): object {
  return {
    apiVersion: 'apps/v1',
    kind,
    metadata: { name: 'w', ...metadata },
    spec: { selector: { matchLabels: { app: 'x' } }, template: podTemplate, ...spec },
  }
}

/** A pod template with two containers, for the columns of workloads. */
export const shownTemplate = {
  metadata: { labels: { t: '1' } },
  spec: {
    containers: [
      { name: 'c1', image: 'i1' },
      { name: 'c2', image: 'i2' },
    ],
    nodeSelector: { disk: 'ssd' },
  },
}

/** A label selector that tables show as `a=b,k in (1,2)`. */
export const shownSelector = {
  matchLabels: { a: 'b' },
  matchExpressions: [{ key: 'k', operator: 'In', values: ['2', '1'] }],
}
