import { seededRandom } from '@kubewright/base'
import type { DecoderTarget, FuzzInput } from './decoder-target.ts'

/** Options of {@link fuzzDecoder}. */
export interface FuzzDecoderOptions {
  readonly seed: string
  /** The number of inputs; infinite to run until `isOver`. */
  readonly count: number
  /** @default never */
  readonly isOver?: () => boolean
  /** The approximate size of the largest inputs in bytes. @default 2,000 */
  readonly maxSize?: number
  /** The CPU time in milliseconds that an input may take. @default unlimited */
  readonly maxCpuMillis?: number
  /** Called with the number of inputs so far, from time to time. */
  readonly onProgress?: (count: number) => void
}

/** The result of a run. */
export interface FuzzDecoderReport {
  readonly count: number
  readonly largestCpuMillis: number
  /** The input that took longest. */
  readonly largest: FuzzInput | undefined
  readonly failure: DecoderFailure | undefined
}

/** An input that breaks the contract of a decoder. */
export interface DecoderFailure {
  readonly input: FuzzInput
  readonly error: unknown
  /** The index of the input in the run. */
  readonly index: number
}

/** Generates inputs and checks them until the count is reached or one fails. */
export function fuzzDecoder(target: DecoderTarget, options: FuzzDecoderOptions): FuzzDecoderReport {
  const { count, isOver, maxSize = 2000, maxCpuMillis = Number.POSITIVE_INFINITY, onProgress } = options
  const stream = seededRandom(`${options.seed} ${target.name}`)
  let largest: FuzzInput | undefined
  let largestCpuMillis = 0
  for (let index = 0; index < count; index++) {
    if (index % 256 === 0) {
      if (isOver?.()) return { count: index, largestCpuMillis, largest, failure: undefined }
      onProgress?.(index)
    }
    // Each input has a stream of its own, so that its index reproduces it.
    const input = target.generate(stream.fork(String(index)), maxSize)
    const before = process.cpuUsage()
    try {
      target.check(input)
    } catch (error) {
      return { count: index + 1, largestCpuMillis, largest, failure: { input, error, index } }
    }
    const { user, system } = process.cpuUsage(before)
    const millis = (user + system) / 1000
    if (millis > largestCpuMillis) [largestCpuMillis, largest] = [millis, input]
    if (millis > maxCpuMillis) {
      const error = new Error(`took ${Math.round(millis)} ms of CPU time`)
      return { count: index + 1, largestCpuMillis, largest, failure: { input, error, index } }
    }
  }
  return { count, largestCpuMillis, largest, failure: undefined }
}
