import { createClient } from '@kubewright/client'
import { createManager, type Operator } from '@kubewright/runtime'
import type { TestEnv } from '@kubewright/testing'
import { type Fate, Life, mortal } from './life.ts'

/** What was done in the lives of an operator. */
export interface Lives {
  /** The calls of each life. */
  readonly calls: readonly (readonly string[])[]
}

const enoughLives = 300

/**
 * Runs an operator in an environment while something is done there. Each of its lives ends as its fate says, and the next one begins at
 * once; a life without a fate goes on to the end.
 */
export async function live(
  env: TestEnv,
  operator: (life: Life) => Operator,
  fateOf: (life: number) => Fate | undefined,
  act: () => Promise<void>,
): Promise<Lives> {
  const { clock } = env.controlPlane
  const lives: Life[] = []
  let stop = new AbortController()
  let running: Promise<void> = Promise.resolve()
  let isOver = false
  const begin = (): void => {
    if (isOver) return
    if (lives.length > enoughLives) throw new Error(`Nothing comes of it: ${lives.length} lives`)
    const life = new Life(fateOf(lives.length))
    lives.push(life)
    const client = createClient({ transport: mortal(env.controlPlane.transport(), life), clock })
    // Without an election the next life begins at once; what an election does is tested elsewhere.
    const options = { operator: operator(life), client, clock, gracefulTimeout: 0, leaderElection: false } as const
    stop = new AbortController()
    const mine = stop
    running = createManager(options).start({ signal: stop.signal })
    // A process that is gone reports nothing, so what its remains complain about is dropped.
    running.catch(() => undefined)
    void life.died.then(() => {
      mine.abort()
      begin()
    })
  }
  begin()
  try {
    await act()
  } finally {
    isOver = true
    stop.abort()
    await running.catch((error: unknown) => {
      if (lives.at(-1)?.isDead !== true) throw error
    })
  }
  return { calls: lives.map(({ calls }) => calls) }
}

/** Whether a call changes something in the cluster; Events are only told. */
export const isWrite = (label: string): boolean => /^(POST|PUT|PATCH|DELETE)/.test(label) && !label.includes('/events')

/** Makes a call to something outside of the cluster. Errors are answers: whoever dies does not live to see them either. */
export async function lifeCall<T>(life: Life, label: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  const answer = await life.call(label, signal, () =>
    work().then(
      (value) => () => value,
      (error: unknown) => () => {
        throw error
      },
    ),
  )
  return answer()
}
