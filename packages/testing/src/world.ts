import { AsyncDisposer, type Random, seededRandom, systemClock, systemRandom } from '@kubewright/base'
import type { ControlPlaneSnapshot } from '@kubewright/controlplane'
import { Failure } from './failure.ts'
import { Faults } from './faults.ts'
import type { OperatorRuns } from './operator-runs.ts'
import { RequestMeter } from './request-meter.ts'
import type { TestEnvOptions } from './test-env.ts'
import { realTime, type TimeDriver, virtualTime } from './time-driver.ts'

/** The state that an environment starts from. */
export interface Origin {
  readonly plane: ControlPlaneSnapshot
  readonly now: number
  /** Distinguishes the environments of one snapshot: they must not generate the same uids for different objects. */
  readonly branch: string
}

/** Time, randomness and failures of one environment: everything that its parts share. */
export class World {
  readonly time: TimeDriver
  readonly random: Random
  readonly failure: Failure = new Failure()
  readonly disposer: AsyncDisposer = new AsyncDisposer()
  /** Counts the requests of controllers; undefined in real time, where deadlines end hot loops. */
  readonly meter: RequestMeter | undefined
  readonly faults: Faults
  runs: OperatorRuns | undefined
  webhooksRunning = 0
  requestsInFlight = 0

  constructor(options: TestEnvOptions, origin: Origin | undefined) {
    const isVirtual = options.time === 'virtual'
    this.time = isVirtual
      ? virtualTime({
          start: origin?.now ?? startOf(options),
          isUserCodeRunning: () => this.#isUserCodeRunning(),
          onTurn: () => this.meter?.reset(),
          requestsInFlight: options.transport === 'https' ? () => this.requestsInFlight : undefined,
        })
      : realTime(systemClock)
    const random =
      options.random ?? (isVirtual || options.seed !== undefined ? seededRandom(options.seed ?? 1) : systemRandom)
    this.random = origin === undefined ? random : random.fork(origin.branch)
    if (isVirtual) this.meter = new RequestMeter((error) => this.failure.happen(error))
    this.faults = new Faults(this.time.clock)
  }

  #isUserCodeRunning(): boolean {
    if (this.webhooksRunning > 0) return true
    return this.runs?.current?.manager.runners.some((runner) => runner.queue().processing.length > 0) ?? false
  }
}

function startOf({ start }: TestEnvOptions): number | undefined {
  if (start === undefined) return undefined
  const millis = new Date(start).getTime()
  if (Number.isNaN(millis)) {
    throw new TypeError(`start must be a date such as '2026-01-01T00:00:00Z': ${JSON.stringify(start)}`)
  }
  return millis
}
