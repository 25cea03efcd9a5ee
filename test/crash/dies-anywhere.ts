import type { AnyKind } from '@kubewright/api'
import type { NodesOptions } from '@kubewright/controlplane'
import { startTestEnv, type TestEnv } from '@kubewright/testing'
import { expect, test } from 'vitest'
import type { Fate } from './life.ts'
import { isWrite } from './lives.ts'

/** What is played again and again, with an operator whose lives end as the fates say. */
export type Play = (fateOf: (life: number) => Fate | undefined) => Promise<{
  /** What counts of the state in which it left everything. */
  readonly end: unknown
  /** The calls of each life. */
  readonly calls: readonly (readonly string[])[]
}>

/** An environment of a kind with nothing but a node that runs processes: it is started a hundred times. */
export function startBareEnv(kind: AnyKind, processes: NonNullable<NodesOptions['processes']>): Promise<TestEnv> {
  return startTestEnv(undefined, {
    time: 'virtual',
    nodes: { nodes: 1, processes },
    install: [kind],
    controllers: ['serviceaccount-controller'],
  })
}

/**
 * Tests that an operator may die at any of its calls, and another takes over. Besides writes to the cluster, calls whose labels begin
 * with `<outside>!` change something.
 */
export function diesAnywhere(kind: string, outside: string, wellEnded: object, play: Play): void {
  const changes = (label: string): boolean => isWrite(label) || label.startsWith(`${outside}!`)

  /** Of reads in a row the first will do: whoever dies at a later one has seen more, but changed nothing. */
  const worthDying = (): ((label: string) => boolean) => {
    let isFirst = true
    return (label) => {
      const isChange = changes(label)
      const isWorth = isChange || isFirst
      isFirst = isChange
      return isWorth
    }
  }

  test.each([
    ['is lost', worthDying],
    ['takes effect', () => changes],
  ] as const)(`the operator of ${kind} may die at any call, which %s`, { timeout: 900_000 }, async (call, fateful) => {
    const { calls, end } = await play(() => undefined)
    expect(end).toEqual(wellEnded)
    const all = calls[0]?.filter(fateful()) ?? []
    expect(all.length).toBeGreaterThan(30)
    for (let at = 1; at <= all.length; at++) {
      const isFateful = fateful()
      const run = await play((life) => (life === 0 ? { at, call, isFateful } : undefined))
      const when = `it died at call ${at}, ${all[at - 1]}, which ${call}`
      expect(run.end, when).toEqual(wellEnded)
      expect(run.calls, when).toHaveLength(2)
    }
  })

  test(`the operator of ${kind} may die after each change that it makes`, { timeout: 60_000 }, async () => {
    const { calls, end } = await play(() => ({ at: 1, call: 'takes effect', isFateful: changes }))
    expect(end).toEqual(wellEnded)
    expect(calls.length).toBeGreaterThan(30)
  })
}
