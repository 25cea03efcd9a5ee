import { defineFault, type FaultDefinition, seconds } from '../define/define-fault.ts'
import { changeField } from './change-field.ts'

type ChildChanged = {
  readonly kind: 'child-changed'
  readonly at: number
  readonly pick: number
  readonly delay: number
}

export const childChanged: FaultDefinition<ChildChanged> = defineFault<ChildChanged>({
  kind: 'child-changed',
  class: 'others',
  summary: 'a user changes a field that the operator maintains',
  points: (at) => [{ kind: 'child-changed', at, pick: at, delay: 30_000 }],
  duration: () => 0,
  describe: ({ delay }, action) => `a user changes a child, ${seconds(delay)} after ${action}`,
  inject({ pick, delay }, { cluster, later, note }) {
    const change = async (): Promise<void> => {
      const children = await cluster.children()
      const child = children[pick % Math.max(1, children.length)]
      if (child === undefined) return
      for (const { changed, path } of changeField(child.object, pick, child.changed)) {
        if (!(await cluster.changeChild(child, changed))) continue
        note('user', `A user changes ${path} of ${child.id}`)
        return
      }
    }
    later(delay, () => void change())
  },
  consequences: ['children are changed'],
})
