/** Limits of list responses. */
export interface ListLimits {
  /**
   * Objects of one response. A larger `limit` is reduced to it; a list of more objects without `limit` is refused with 413, because clients
   * that do not send `limit` do not expect a part. @default none
   */
  readonly objects?: number | undefined
  /**
   * Stored bytes of a list in protobuf, YAML or indented JSON, which the server encodes as a whole. Larger lists are refused with 413; compact
   * JSON is streamed and has no limit. @default 256 MiB
   */
  readonly encodedBytes?: number | undefined
}

/** The default of {@link ListLimits.encodedBytes}. */
export const defaultEncodedBytes: number = 256 * 1024 * 1024
