/** A kind in the format of the extension x-kubernetes-group-version-kind. */
export interface OperationKind {
  readonly group: string
  readonly version: string
  readonly kind: string
}

/** A request body: a definition, a patch of the given media types, or the optional options of a delete. */
export type OperationBody =
  | { readonly definition: string }
  | { readonly patch: readonly string[] }
  | { readonly options: string }

/** An API operation, independent of the OpenAPI version. */
export interface ApiOperation {
  readonly method: 'get' | 'put' | 'post' | 'delete' | 'options' | 'head' | 'patch'
  readonly id: string
  readonly description: string
  readonly tag: string
  readonly action?: string | undefined
  readonly kind?: OperationKind | undefined
  /** Names of query parameters. */
  readonly parameters: readonly string[]
  readonly body?: OperationBody | undefined
  /** Media types of a body other than a patch. @default any */
  readonly consumes?: readonly string[] | undefined
  /** By status code: the definition of the response body, or `string` for plain text. */
  readonly responses: Readonly<Record<string, string>>
  readonly produces: readonly string[]
}

/** A path with its operations and shared parameters. */
export interface ApiPath {
  readonly path: string
  /** The kind of the path parameter {name}, if there is one. */
  readonly named?: string | undefined
  /** Names of query parameters that all operations accept. */
  readonly parameters: readonly string[]
  readonly operations: readonly ApiOperation[]
}

/** A query or path parameter. */
export interface ApiParameter {
  readonly in: 'query' | 'path'
  readonly type: 'string' | 'integer' | 'boolean'
  readonly description: string
}

const query = (type: ApiParameter['type'], description: string): ApiParameter => ({ in: 'query', type, description })

/** All parameters by name. */
export const apiParameters: Readonly<Record<string, ApiParameter>> = {
  allowWatchBookmarks: query('boolean', 'Send bookmark events in a watch.'),
  command: query('string', 'The command to run, without a shell.'),
  container: query('string', 'The container. Optional when the pod has only one.'),
  continue: query('string', 'The token of the previous page of a list.'),
  dryRun: query('string', 'Run all steps of the request but do not store the result. The only value is All.'),
  fieldManager: query('string', 'The name of the manager that owns the changed fields.'),
  fieldSelector: query('string', 'Limit the list of returned objects to those with matching fields.'),
  fieldValidation: query('string', 'How to handle unknown and duplicate fields: Ignore, Warn or Strict.'),
  follow: query('boolean', 'Keep the log stream open.'),
  force: query('boolean', 'Take over fields of other managers in an apply.'),
  gracePeriodSeconds: query('integer', 'Seconds until the object is deleted. Zero deletes it immediately.'),
  ignoreStoreReadErrorWithClusterBreakingPotential: query(
    'boolean',
    'Delete the object even if it cannot be decoded. Dangerous.',
  ),
  insecureSkipTLSVerifyBackend: query('boolean', 'Do not verify the certificate of the node.'),
  labelSelector: query('string', 'Limit the list of returned objects to those with matching labels.'),
  limit: query('integer', 'The maximum number of objects in a response.'),
  limitBytes: query('integer', 'The maximum number of bytes in a response.'),
  name: { in: 'path', type: 'string', description: 'The name of the object.' },
  namespace: { in: 'path', type: 'string', description: 'The namespace of the object.' },
  orphanDependents: query('boolean', 'Deprecated: use propagationPolicy.'),
  path: { in: 'path', type: 'string', description: 'The path of the proxied request.' },
  ports: query('integer', 'The ports to forward.'),
  pretty: query('string', 'Indent the output.'),
  previous: query('boolean', 'Show the log of the previous instance of the container.'),
  propagationPolicy: query('string', 'How to handle dependents: Orphan, Background or Foreground.'),
  resourceVersion: query('string', 'The oldest resource version that the response may reflect.'),
  resourceVersionMatch: query('string', 'How to interpret resourceVersion: NotOlderThan or Exact.'),
  sendInitialEvents: query('boolean', 'Start a watch with the existing objects.'),
  shardSelector: query('string', 'Limit the list of returned objects to a range of hashes of a field.'),
  sinceSeconds: query('integer', 'Show only lines of the last seconds.'),
  stderr: query('boolean', 'Connect standard error.'),
  stdin: query('boolean', 'Connect standard input.'),
  stdout: query('boolean', 'Connect standard output.'),
  stream: query('string', 'The stream to show: All, Stdout or Stderr.'),
  tailLines: query('integer', 'Show only the last lines.'),
  timeoutSeconds: query('integer', 'The timeout of a list or watch in seconds.'),
  timestamps: query('boolean', 'Prefix each line with its timestamp.'),
  tty: query('boolean', 'Allocate a terminal for the process.'),
  watch: query('boolean', 'Watch for changes to the described resources and receive them as events.'),
}
