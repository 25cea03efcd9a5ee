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
  readonly action?: string
  readonly kind?: OperationKind
  /** Names of query parameters. */
  readonly parameters: readonly string[]
  readonly body?: OperationBody
  /** Media types of a body other than a patch. @default any */
  readonly consumes?: readonly string[]
  /** By status code: the definition of the response body, or `string` for plain text. */
  readonly responses: Readonly<Record<string, string>>
  readonly produces: readonly string[]
}

/** A path with its operations and shared parameters. */
export interface ApiPath {
  readonly path: string
  /** The kind of the path parameter {name}, if there is one. */
  readonly named?: string
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
  allowWatchBookmarks: query('boolean', 'Ask for bookmark events in a watch.'),
  command: query('string', 'The command to run, not in a shell.'),
  container: query('string', 'The container; may be left out when the pod has only one.'),
  continue: query('string', 'Where the previous page of a list ended.'),
  dryRun: query('string', 'All: do everything but keep the result.'),
  fieldManager: query('string', 'The name under which changed fields are owned.'),
  fieldSelector: query('string', 'Restricts the objects by their fields.'),
  fieldValidation: query('string', 'Ignore, Warn or Strict: what happens to unknown and repeated fields.'),
  follow: query('boolean', 'Keep the stream open for what comes.'),
  force: query('boolean', 'Take over fields that others own, in an apply.'),
  gracePeriodSeconds: query('integer', 'Seconds before the object goes; zero is at once.'),
  ignoreStoreReadErrorWithClusterBreakingPotential: query('boolean', 'Delete even what cannot be read. Dangerous.'),
  insecureSkipTLSVerifyBackend: query('boolean', 'Do not verify the certificate of the node.'),
  labelSelector: query('string', 'Restricts the objects by their labels.'),
  limit: query('integer', 'The greatest number of objects in an answer.'),
  limitBytes: query('integer', 'The greatest number of bytes in an answer.'),
  name: { in: 'path', type: 'string', description: 'The name of the object.' },
  namespace: { in: 'path', type: 'string', description: 'The namespace of the object.' },
  orphanDependents: query('boolean', 'Deprecated: use propagationPolicy.'),
  path: { in: 'path', type: 'string', description: 'The path that is passed on.' },
  ports: query('integer', 'The ports to forward.'),
  pretty: query('string', 'Indent the output.'),
  previous: query('boolean', 'Show the log of the container that ended last.'),
  propagationPolicy: query('string', 'Orphan, Background or Foreground: what happens to dependents.'),
  resourceVersion: query('string', 'What the answer must at least have seen.'),
  resourceVersionMatch: query('string', 'NotOlderThan or Exact: how resourceVersion is meant.'),
  sendInitialEvents: query('boolean', 'Begin a watch with the objects that exist.'),
  sinceSeconds: query('integer', 'Show only what is younger.'),
  stderr: query('boolean', 'Connect standard error.'),
  stdin: query('boolean', 'Connect standard input.'),
  stdout: query('boolean', 'Connect standard output.'),
  stream: query('string', 'All, Stdout or Stderr.'),
  tailLines: query('integer', 'Show only so many lines from the end.'),
  timeoutSeconds: query('integer', 'How long a list or a watch may take.'),
  timestamps: query('boolean', 'Begin each line with its time.'),
  tty: query('boolean', 'Give the process a terminal.'),
  watch: query('boolean', 'Stream the changes.'),
}
