import { type MetricSink, VirtualClock } from '@kubewright/base'
import { expect, test } from 'vitest'
import { WorkQueue } from './work-queue.ts'

test('WorkQueue.add() does not cancel a pending addAfter()', async () => {
  const clock = new VirtualClock()
  const queue = new WorkQueue({ clock })
  queue.addAfter('a', 100)
  queue.add('a')
  expect(queue.tryGet()?.key).toBe('a')
  queue.done('a')
  await clock.advance(100)
  expect(queue.tryGet()?.key).toBe('a')
})

test('WorkQueue.shutDown() drains ready keys by default', async () => {
  const queue = new WorkQueue({ clock: new VirtualClock() })
  queue.add('a')
  const stopping = queue.shutDown()
  expect(queue.tryGet()?.key).toBe('a')
  queue.done('a')
  expect(await stopping).toEqual({ dropped: [], finished: 1 })
})

test('WorkQueue reports the metrics of client-go', async () => {
  const clock = new VirtualClock()
  const log: string[] = []
  const write =
    (verb: string): MetricSink['set'] =>
    (name, labels, value) =>
      void log.push(`${verb} ${name}{${labels.name}} ${value}`)
  const metrics: MetricSink = { add: write('add'), set: write('set'), observe: write('observe') }
  const queue = new WorkQueue({ clock, name: 'pods', metrics })
  queue.addAfter('a', 500)
  await clock.advance(500)
  await clock.advance(2000)
  queue.tryGet()
  await clock.advance(3000)
  queue.reportRunning()
  queue.done('a')
  expect(log).toEqual([
    'add workqueue_retries_total{pods} 1',
    'add workqueue_adds_total{pods} 1',
    'set workqueue_depth{pods} 1',
    'set workqueue_depth{pods} 0',
    'observe workqueue_queue_duration_seconds{pods} 2',
    'set workqueue_unfinished_work_seconds{pods} 3',
    'set workqueue_longest_running_processor_seconds{pods} 3',
    'observe workqueue_work_duration_seconds{pods} 3',
  ])
})
