import type { AnyKind } from '@kubewright/api'
import type { NodesOptions } from '@kubewright/controlplane'
import { startTestEnv, type TestEnv } from '@kubewright/testing'
import { expect, test } from 'vitest'
import { sampled } from '../sampled.ts'
import type { CrashPlan } from './crashing-process.ts'
import { isWrite } from './run-with-crashes.ts'

/** Runs a scenario with an operator whose processes crash as planned. */
export type RunScenario = (planOf: (index: number) => CrashPlan | undefined) => Promise<{
  /** The relevant part of the final state. */
  readonly end: unknown
  /** The labels of the calls, by process. */
  readonly calls: readonly (readonly string[])[]
}>

/** Starts an environment with one kind and a node that runs processes. Minimal, because tests start it a hundred times. */
export function startBareEnv(kind: AnyKind, processes: NonNullable<NodesOptions['processes']>): Promise<TestEnv> {
  return startTestEnv(undefined, {
    time: 'virtual',
    nodes: { nodes: 1, processes },
    install: [kind],
    controllers: ['serviceaccount-controller'],
  })
}

/**
 * Registers tests in which the operator crashes at each of its calls and the next process takes over. Writes to the
 * cluster and calls whose labels start with `<external>!` change state.
 */
export function testCrashAtEveryCall(kind: string, external: string, expectedEnd: object, run: RunScenario): void {
  const changesState = (label: string): boolean => isWrite(label) || label.startsWith(`${external}!`)

  /** Of consecutive reads only the first counts: a crash at a later one has the same effect. */
  const relevantCalls = (): ((label: string) => boolean) => {
    let isFirst = true
    return (label) => {
      const isChange = changesState(label)
      const isRelevant = isChange || isFirst
      isFirst = isChange
      return isRelevant
    }
  }

  test.each([
    ['is lost', relevantCalls],
    ['takes effect', () => changesState],
  ] as const)(
    `the operator of ${kind} survives a crash at a call that %s`,
    { timeout: 900_000 },
    async (call, selectCalls) => {
      const { calls, end } = await run(() => undefined)
      expect(end).toEqual(expectedEnd)
      const all = calls[0]?.filter(selectCalls()) ?? []
      expect(all.length).toBeGreaterThan(30)
      for (const at of sampled(all.length)) {
        const counts = selectCalls()
        const result = await run((index) => (index === 0 ? { at, call, counts } : undefined))
        const when = `crash at call ${at}, ${all[at - 1]}, which ${call}`
        expect(result.end, when).toEqual(expectedEnd)
        expect(result.calls, when).toHaveLength(2)
      }
    },
  )

  test(`the operator of ${kind} survives a crash after each change`, { timeout: 60_000 }, async () => {
    const { calls, end } = await run(() => ({ at: 1, call: 'takes effect', counts: changesState }))
    expect(end).toEqual(expectedEnd)
    expect(calls.length).toBeGreaterThan(30)
  })
}
