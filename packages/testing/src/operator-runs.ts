import { type Duration, errorText, KubewrightError, type Logger, type Random, toMillis } from '@kubewright/base'
import type { ApiClient } from '@kubewright/client'
import {
  createHealthChecks,
  createManager,
  createMetricRegistry,
  type Manager,
  type MetricRegistry,
  managerMetrics,
  type Operator,
  type ServedHealthChecks,
} from '@kubewright/runtime'
import { Life } from './faults.ts'
import type { TimeDriver } from './time-driver.ts'

/** Dependencies of {@link OperatorRuns}. */
export interface OperatorRunsParts {
  readonly operator: Operator
  /** Creates the client of one run. It belongs to the run. */
  readonly connect: (life: Life) => ApiClient
  readonly time: TimeDriver
  readonly random: Random
  readonly log: Logger
  readonly namespace: string
  readonly leaderElection: boolean
  /** Called when a run ends although the test did not end it. */
  readonly failed: (error: KubewrightError) => void
}

/** A running operator. */
export interface RunningOperator {
  readonly manager: Manager
  readonly metrics: MetricRegistry
  readonly health: ServedHealthChecks
  /** Ends the run. After a crash no further request reaches the server. */
  end(how: 'stop' | 'crash'): Promise<void>
}

/** Runs an operator, one run at a time. */
export class OperatorRuns implements AsyncDisposable {
  readonly #parts: OperatorRunsParts
  #runs = 0
  /** The current run. Between two runs, the last one. */
  current: RunningOperator | undefined

  constructor(parts: OperatorRunsParts) {
    this.#parts = parts
  }

  /** Starts a run; resolves when its controllers work. */
  async start(): Promise<void> {
    const { operator, time, log, namespace, leaderElection, failed } = this.#parts
    const { clock } = time
    const life = new Life()
    const client = this.#parts.connect(life)
    const metrics = createMetricRegistry(managerMetrics)
    const health = createHealthChecks({ clock })
    const manager = createManager({
      operator,
      client,
      clock,
      random: this.#parts.random.fork(this.#runs++ === 0 ? 'operator' : `operator ${this.#runs}`),
      log,
      metrics,
      health,
      namespace,
      // As the only replica it leads without a Lease by default: a stalled test on a busy machine would lose the Lease.
      leaderElection: leaderElection && operator.leaderElection,
    })
    const stop = new AbortController()
    const running = manager.start({ signal: stop.signal })
    running.catch((cause: unknown) => {
      if (stop.signal.aborted) return
      const message = `The operator has ended, so the wait cannot succeed: ${errorText(cause)}`
      failed(new KubewrightError('KW_TEST_OPERATOR_ENDED', message, { cause }))
    })
    this.current = {
      manager,
      metrics,
      health,
      async end(how) {
        stop.abort(new Error('The test ended the operator'))
        if (how === 'crash') life.end()
        // A crashed run fails in any way.
        await (how === 'crash' ? running.catch(() => undefined) : running)
        await client[Symbol.asyncDispose]()
      },
    }
    await Promise.race([manager.elected, running])
  }

  /** Ends the current run and starts a new one. */
  async restart(how: 'stop' | 'crash', downtime: Duration | undefined): Promise<void> {
    await this.current?.end(how)
    if (downtime !== undefined) await this.#parts.time.clock.sleep(toMillis(downtime))
    await this.start()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.current?.end('stop')
  }
}
