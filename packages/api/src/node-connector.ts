/** Which part of a container's log to read. A field that is missing does not limit it. */
export interface PodLogRequest {
  readonly node: string
  readonly namespace: string
  readonly pod: string
  readonly uid: string
  readonly container: string
  readonly follow: boolean
  readonly previous: boolean
  readonly timestamps: boolean
  readonly tailLines?: number | undefined
  readonly sinceSeconds?: number | undefined
  /** Time in RFC 3339. */
  readonly sinceTime?: string | undefined
  readonly limitBytes?: number | undefined
  readonly signal: AbortSignal
}

/** The connection of the server to its nodes. A server without one reports every node as unreachable. */
export interface NodeConnector {
  /** Reads the lines of a container's log, with their line ends. Returns undefined for an unknown node. */
  logs(request: PodLogRequest): AsyncIterable<string> | undefined
  /**
   * Why a node offers no exec, attach and port-forward: the message that clients see. Returns undefined for an unknown
   * node.
   */
  refusesStreams?(node: string): string | undefined
}
