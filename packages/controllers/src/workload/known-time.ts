import { fromTime } from '@kubewright/api'

/**
 * The milliseconds of a time in an object; undefined when there is none. The server answers null for a time that its kind always
 * has but nobody set, as in the conditions that a client wrote without saying since when.
 */
export function knownTime(text: string | null | undefined): number | undefined {
  return text === undefined || text === null ? undefined : fromTime(text)
}
