/** Which part of a container's log is wanted, as far as the request says it. */
export interface PodLogRequest {
  readonly node: string
  readonly namespace: string
  readonly pod: string
  readonly uid: string
  readonly container: string
  readonly follow: boolean
  readonly previous: boolean
  readonly timestamps: boolean
  readonly tailLines?: number
  readonly sinceSeconds?: number
  /** RFC 3339. */
  readonly sinceTime?: string
  readonly limitBytes?: number
  readonly signal: AbortSignal
}

/** The way from the server to what runs on nodes. A server without one answers as if no node could be reached. */
export interface NodeConnector {
  /** The lines of a container's log, each with its line end; undefined when the node is not known here. */
  logs(request: PodLogRequest): AsyncIterable<string> | undefined
}
