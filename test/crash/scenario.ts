import type { AnyKind } from '@kubewright/api'
import type { ApiClient } from '@kubewright/client'
import type { Operator } from '@kubewright/runtime'
import { startTestEnv, type TestSnapshot } from '@kubewright/testing'
import type { Fate, Life } from './life.ts'
import { live } from './lives.ts'

/** What an operator goes through, whatever becomes of it meanwhile. */
export interface Scenario<World> {
  readonly kinds: readonly AnyKind[]
  /** The world outside of the cluster. */
  world(): World
  /** The operator as a process: all that it does to the world outside is a call of its life. */
  operator(life: Life, world: World): Operator
  /** What is there before the operator. */
  prepare?(client: ApiClient): Promise<void>
  /** What people do, one after the other. */
  readonly steps: Readonly<Record<string, (client: ApiClient) => Promise<unknown>>>
  /** What counts of the state between steps; everything that depends on time and chance left out. */
  state(client: ApiClient, world: World): Promise<unknown>
}

/** What a run of a scenario came to. */
export interface Run {
  /** The state after each step. */
  readonly states: Readonly<Record<string, unknown>>
  /** The calls of each life. */
  readonly lives: readonly (readonly string[])[]
}

// Longer than a child of an owner that is gone is waited for, and than the first back-offs together.
const patience = '6s'

/** A scenario with a cluster that is set up once. */
export class Stage<World> implements AsyncDisposable {
  readonly #scenario: Scenario<World>
  readonly #snapshot: TestSnapshot

  private constructor(scenario: Scenario<World>, snapshot: TestSnapshot) {
    this.#scenario = scenario
    this.#snapshot = snapshot
  }

  static async set<World>(scenario: Scenario<World>): Promise<Stage<World>> {
    await using env = await startTestEnv(undefined, { time: 'virtual', install: scenario.kinds })
    await scenario.prepare?.(env.client)
    await env.settled()
    return new Stage(scenario, env.snapshot())
  }

  /** Plays the scenario. Each life ends as the fates say; the one after the last fate goes on to the end. */
  async play(fates: readonly Fate[] | ((life: number) => Fate | undefined)): Promise<Run> {
    const { operator, world: makeWorld, steps, state } = this.#scenario
    await using env = await this.#snapshot.start()
    const world = makeWorld()
    const fateOf = typeof fates === 'function' ? fates : (life: number): Fate | undefined => fates[life]
    const states: Record<string, unknown> = {}
    const { calls: lives } = await live(
      env,
      (life) => operator(life, world),
      fateOf,
      async () => {
        for (const [name, act] of Object.entries(steps)) {
          await act(env.client)
          await env.settled()
          await env.advance(patience)
          await env.settled()
          states[name] = await state(env.client, world)
        }
      },
    )
    return { states, lives }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#snapshot[Symbol.asyncDispose]()
  }
}
