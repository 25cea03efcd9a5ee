import { defineFault, type FaultDefinition, seconds } from '../define/define-fault.ts'

type ChildDeleted = {
  readonly kind: 'child-deleted'
  readonly at: number
  readonly pick: number
  readonly delay: number
}

export const childDeleted: FaultDefinition<ChildDeleted> = defineFault<ChildDeleted>({
  kind: 'child-deleted',
  class: 'others',
  summary: 'a user deletes a child',
  points: (at) => [
    { kind: 'child-deleted', at, pick: at, delay: 10 },
    { kind: 'child-deleted', at, pick: at + 1, delay: 30_000 },
  ],
  duration: () => 0,
  describe: ({ delay }, action) => `a user deletes a child, ${seconds(delay)} after ${action}`,
  inject({ pick, delay }, { cluster, later, note }) {
    const remove = async (): Promise<void> => {
      // The operator cannot restore an object that it has only changed.
      const children = (await cluster.children()).filter(({ isGiven }) => !isGiven)
      const child = children[pick % Math.max(1, children.length)]
      if (child === undefined) return
      await cluster.deleteChild(child)
      note('user', `A user deletes ${child.id}`)
    }
    later(delay, () => void remove())
  },
  // A child is deleted while the operator does not see it.
  pairs: (at) => [
    [
      { kind: 'crash', at, when: 'between', downtime: 30_000 },
      { kind: 'child-deleted', at, pick: at, delay: 10_000 },
    ],
    [
      { kind: 'watch-gap', at, for: 30_000 },
      { kind: 'child-deleted', at, pick: at, delay: 10_000 },
    ],
  ],
})
