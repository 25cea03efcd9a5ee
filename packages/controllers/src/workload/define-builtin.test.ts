import type { KubeObject } from '@kubewright/api'
import { type ControllerParts, channelSource, type EventNote, type KeyContext } from '@kubewright/runtime'
import { expect, test } from 'vitest'
import { defineBuiltinController } from './define-builtin-controller.ts'

test('defineBuiltinController() sets the component of Events to the controller name or the reporter', async () => {
  const notes: EventNote[] = []
  const events = { record: (_: KubeObject, note: EventNote) => void notes.push(note) }
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' } } as KubeObject
  const controller = (reporter?: string) =>
    defineBuiltinController({
      name: 'some-controller',
      sources: [channelSource()],
      ...(reporter === undefined ? {} : { reporter }),
      start: () => (_, context) =>
        context.events.record(pod, { type: 'Normal', reason: 'Done', message: context.reconcileID }),
    })
  for (const value of [controller(), controller('default-scheduler')]) {
    await value.start({ events } as ControllerParts)('key', { reconcileID: 'one' } as KeyContext)
  }
  expect(notes.map(({ component, message }) => [component, message])).toEqual([
    ['some-controller', 'one'],
    ['default-scheduler', 'one'],
  ])
})
