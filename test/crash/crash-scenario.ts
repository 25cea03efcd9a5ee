import { type AnyKind, crdOf } from '@kubewright/api'
import type { ApiClient } from '@kubewright/client'
import type { Operator } from '@kubewright/runtime'
import { startTestEnv, type TestSnapshot } from '@kubewright/testing'
import type { CrashingProcess, CrashPlan } from './crashing-process.ts'
import { runWithCrashes } from './run-with-crashes.ts'

/** A sequence of user actions that an operator must handle despite crashes. */
export interface Scenario<World> {
  readonly kinds: readonly AnyKind[]
  /** Creates the state outside of the cluster. */
  world(): World
  /** Creates the operator of a process. All its accesses to the world must be calls of the process. */
  operator(process: CrashingProcess, world: World): Operator
  /** Creates the objects that exist before the operator starts. */
  prepare?(client: ApiClient): Promise<void>
  /** The user actions, in order. */
  readonly steps: Readonly<Record<string, (client: ApiClient) => Promise<unknown>>>
  /** The state to compare after each step, without anything that depends on time or randomness. */
  state(client: ApiClient, world: World): Promise<unknown>
}

/** The result of running a scenario. */
export interface ScenarioResult {
  /** The state after each step. */
  readonly states: Readonly<Record<string, unknown>>
  /** The labels of the calls, by process. */
  readonly calls: readonly (readonly string[])[]
}

// Longer than the wait for children of a deleted owner, and than the first back-offs combined.
const settleTime = '6s'

/** Runs a scenario repeatedly from the snapshot of a cluster that is set up once. */
export class ScenarioRunner<World> implements AsyncDisposable {
  readonly #scenario: Scenario<World>
  readonly #snapshot: TestSnapshot

  private constructor(scenario: Scenario<World>, snapshot: TestSnapshot) {
    this.#scenario = scenario
    this.#snapshot = snapshot
  }

  static async create<World>(scenario: Scenario<World>): Promise<ScenarioRunner<World>> {
    await using env = await startTestEnv(undefined, { time: 'virtual' })
    // Not by the option `install`, which refuses kinds whose conversion is not served: scenarios use the storage version only.
    for (const kind of scenario.kinds) await env.client.apply(crdOf(kind) as never, { force: true })
    await env.settled()
    await scenario.prepare?.(env.client)
    await env.settled()
    return new ScenarioRunner(scenario, env.snapshot())
  }

  /** Runs the scenario. Each process crashes as planned; the first one without a plan runs to the end. */
  async run(plans: readonly CrashPlan[] | ((index: number) => CrashPlan | undefined)): Promise<ScenarioResult> {
    const { operator, world: createWorld, steps, state } = this.#scenario
    await using env = await this.#snapshot.start()
    const world = createWorld()
    const planOf = typeof plans === 'function' ? plans : (index: number): CrashPlan | undefined => plans[index]
    const states: Record<string, unknown> = {}
    const { calls } = await runWithCrashes(
      env,
      (process) => operator(process, world),
      planOf,
      async () => {
        for (const [name, act] of Object.entries(steps)) {
          await act(env.client)
          await env.settled()
          await env.advance(settleTime)
          await env.settled()
          states[name] = await state(env.client, world)
        }
      },
    )
    return { states, calls }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#snapshot[Symbol.asyncDispose]()
  }
}
