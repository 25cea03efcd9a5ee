import type { Logger } from '@kubewright/base'
import type { Operator } from '@kubewright/runtime'
import type { Connect } from './connections.ts'
import { OperatorRuns } from './operator-runs.ts'
import type { World } from './world.ts'

/** Starts the operator and stops it with the environment. Resolves when its controllers work. */
export async function runOperator(
  operator: Operator,
  connect: Connect,
  options: { readonly log: Logger; readonly namespace: string; readonly leaderElection?: boolean | undefined },
  world: World,
): Promise<void> {
  const { time, random, failure, disposer } = world
  const { log, namespace, leaderElection = false } = options
  world.runs = disposer.use(
    new OperatorRuns({
      operator,
      connect: (life) => connect('operator', life),
      time,
      random,
      log,
      namespace,
      leaderElection,
      failed: (error) => failure.happen(error),
    }),
  )
  await world.runs.start()
}
