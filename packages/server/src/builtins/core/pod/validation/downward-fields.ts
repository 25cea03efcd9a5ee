/** Pod fields for files of downward API volumes, in the order of the error message. */
export const volumeFieldPaths: readonly string[] = [
  'metadata.annotations',
  'metadata.labels',
  'metadata.name',
  'metadata.namespace',
  'metadata.uid',
]

/** Pod fields for environment variables, in the order of the error message. */
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

/** All pod fields of the downward API. Neither files nor variables allow all of them. */
export const knownFieldPaths: ReadonlySet<string> = new Set([
  ...volumeFieldPaths,
  ...envFieldPaths,
  'spec.restartPolicy',
  'spec.schedulerName',
  'status.phase',
])
