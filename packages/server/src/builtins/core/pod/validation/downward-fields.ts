/** Pod fields that a file of a downward API volume may show, sorted as the error lists them. */
export const volumeFieldPaths: readonly string[] = [
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
]

/** Pod fields that an environment variable may show, sorted as the error lists them. */
export const envFieldPaths: readonly string[] = [
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
  'spec.nodeName',
  'spec.serviceAccountName',
  'status.hostIP',
  'status.hostIPs',
  'status.podIP',
  'status.podIPs',
]

/** Every pod field that the downward API knows; more than any use of it allows. */
export const knownFieldPaths: ReadonlySet<string> = new Set([
  ...volumeFieldPaths,
  ...envFieldPaths,
  'spec.restartPolicy',
  'spec.schedulerName',
  'status.phase',
])
