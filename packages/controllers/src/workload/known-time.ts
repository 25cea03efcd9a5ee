import { fromTime } from '@kubewright/api'

/**
 * Parses a time of an object to epoch milliseconds; undefined when it is not set. The server returns null for a
 * required time that was never set, for example in conditions that a client wrote without times.
 */
export function knownTime(text: string | null | undefined): number | undefined {
  return text === undefined || text === null ? undefined : fromTime(text)
}
