import { defineBudget } from '@kubewright/base'
/** Limits of list responses. */
export interface ListLimits {
  /**
   * Objects of one response. A larger `limit` is reduced to it; a list of more objects without `limit` is refused with 413, because clients
   * that do not send `limit` do not expect a part. @default none
   */
  readonly objects?: number | undefined
  /**
   * Stored bytes of a list in protobuf, which is in memory as a whole. Larger lists are refused with 413; JSON and YAML are streamed and have
   * no limit. @default 256 MiB
   */
  readonly encodedBytes?: number | undefined
}

/** The default of {@link ListLimits.encodedBytes}. */
export const defaultEncodedBytes: number = defineBudget(256 * 1024 * 1024, {
  group: 'server',
  what: 'stored bytes of a list in protobuf, which is in memory as a whole',
  unit: 'bytes',
  option: '`limits.list.encodedBytes`',
  answer: '413',
  kubernetes: 'no limit',
})
