import { Pod } from 'kubewright/k8s'
import { VirtualClock } from 'kubewright/runtime'
import { expect, test } from 'vitest'
import { openCluster } from '../../open-cluster.ts'
import { knownPods } from './known-pods.ts'
import { PodController, type PodControllerOptions } from './pod-controller.ts'

const pod = (name: string) =>
  Pod({ metadata: { name }, spec: { containers: [{ name: 'nginx', image: 'nginx:1.27' }] } })

/** Printed lines that a test can await. */
function lineRecorder() {
  const lines: string[] = []
  const waiting = new Map<string, () => void>()
  const write = (line: string): void => {
    lines.push(line)
    waiting.get(line)?.()
  }
  const shows = (line: string): Promise<void> =>
    new Promise((resolve) => (lines.includes(line) ? resolve() : waiting.set(line, resolve)))
  return { lines, write, shows }
}

async function setUp(options: Partial<PodControllerOptions> = {}) {
  const cluster = await openCluster({ args: [], controllers: [] })
  const { client } = cluster
  const out = lineRecorder()
  const log = lineRecorder()
  const controller = new PodController({ client, print: out.write, log: log.write, ...options })
  const stop = new AbortController()
  return { cluster, client, out, log, controller, stop }
}

test('PodController detects pods that were deleted while it was down and follows the others', async () => {
  const { cluster, client, out, log, controller, stop } = await setUp({ known: knownPods })
  await using _ = cluster
  await client.create(pod('web-0'))
  const running = controller.run(1, stop.signal)
  await out.shows('Sync/Add/Update for Pod web-0')
  expect(out.lines).toEqual(['Pod default/etcd-sample-0 does not exist anymore', 'Sync/Add/Update for Pod web-0'])
  await client.delete(Pod, 'web-0', { gracePeriodSeconds: 0 })
  await out.shows('Pod default/web-0 does not exist anymore')
  stop.abort()
  await running
  expect(log.lines).toEqual(['Starting Pod controller', 'Stopping Pod controller'])
})

test('PodController retries a failing key five times with back-off, then drops it', async () => {
  const clock = new VirtualClock()
  const times: number[] = []
  const sync = (): never => {
    times.push(clock.monotonic())
    throw new Error('no luck')
  }
  const { cluster, client, log, controller, stop } = await setUp({ clock, sync })
  await using _ = cluster
  await client.create(pod('web-0'))
  const running = controller.run(1, stop.signal)
  await log.shows('Error syncing pod default/web-0: no luck')
  await clock.advance('1s')
  stop.abort()
  await running
  expect(times).toEqual([0, 5, 15, 35, 75, 155])
  expect(log.lines).toEqual([
    'Starting Pod controller',
    ...Array.from({ length: 5 }, () => 'Error syncing pod default/web-0: no luck'),
    'Dropping pod "default/web-0" out of the queue: no luck',
    'Stopping Pod controller',
  ])
})

test('PodController never processes a key twice at a time and drains the queue on stop', async () => {
  let release = (): void => undefined
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const inWork = new Set<string>()
  const done: string[] = []
  const started = lineRecorder()
  const sync = async (key: string): Promise<void> => {
    expect(inWork.has(key)).toBe(false)
    inWork.add(key)
    started.write(key)
    await held
    inWork.delete(key)
    done.push(key)
  }
  const { cluster, client, log, controller, stop } = await setUp({ sync })
  await using _ = cluster
  for (const name of ['a', 'b', 'c']) await client.create(pod(name))
  const running = controller.run(2, stop.signal)
  await Promise.all([started.shows('default/a'), started.shows('default/b')])
  stop.abort()
  await log.shows('Stopping Pod controller')
  release()
  await running
  expect(done).toEqual(['default/a', 'default/b', 'default/c'])
})
