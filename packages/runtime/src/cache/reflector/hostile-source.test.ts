import { type KubeObject, newInternalError, newResourceExpired, newTooManyRequests } from '@kubewright/api'
import { nullLogger, type Random, seededRandom, VirtualClock } from '@kubewright/base'
import { expect, test } from 'vitest'
import { SharedInformer } from '../informer/shared-informer.ts'
import { FakeSource } from '../testdata/fake-source.ts'

/** Makes a source fail at random: rejected requests, broken watches, repetitions, silent watches and lost history. */
function makeHostile(source: FakeSource, random: Random): { calm(): void } {
  let hostile = true
  source.fault = () => {
    if (!hostile || random.next() > 0.3) return
    const kinds = [
      newTooManyRequests('busy', 1),
      newInternalError('unwell'),
      newResourceExpired('old'),
      new Error('reset'),
    ]
    throw random.pick(kinds)
  }
  source.onWatch = ({ stream }) => {
    // A watch that never sends anything, as behind a broken proxy.
    if (hostile && random.next() < 0.05) stream.push = () => true
    return true
  }
  return {
    calm() {
      hostile = false
      source.cut()
    },
  }
}

function misbehave(source: FakeSource, random: Random): void {
  const roll = random.next()
  if (roll < 0.02) source.cut()
  else if (roll < 0.03) source.cut(new Error('connection reset'))
  else if (roll < 0.04) source.cut(newResourceExpired('too old resource version'))
  else if (roll < 0.05) source.cut(newInternalError('unable to decode an event from the watch stream'))
  else if (roll < 0.06) source.compacted = source.version
  else if (roll < 0.07) source.sendsBookmarks = !source.sendsBookmarks
  else if (roll < 0.1) {
    const repeated = [...source.objects.values()].slice(0, 3)
    for (const { stream } of source.watches) {
      if (!stream.closed) stream.push(repeated.map((object) => ({ type: 'MODIFIED', object })))
    }
  } else if (roll < 0.15) source.bookmark()
}

test.each([1, 2, 3, 4, 5, 6, 7, 8])(
  'SharedInformer converges to the state of a hostile source, seed %d',
  async (seed) => {
    const random = seededRandom(seed)
    const clock = new VirtualClock()
    const source = new FakeSource()
    source.encodes = seed % 4 < 2
    const { calm } = makeHostile(source, random.fork('faults'))
    const resource = { group: 'example.com', version: 'v1', resource: 'things' }
    const informer = new SharedInformer<KubeObject>({
      source,
      resource,
      clock,
      random: random.fork('informer'),
      log: nullLogger,
      reflector: { pageSize: 7, useWatchList: seed % 2 === 0 },
    })
    // The state that the handler has derived from its calls alone.
    const believed = new Map<string, string>()
    const believe = (object: KubeObject): void =>
      void believed.set(object.metadata.name, object.metadata.resourceVersion)
    const calls = {
      onAdd(object: KubeObject) {
        expect(believed.has(object.metadata.name)).toBe(false)
        believe(object)
      },
      onUpdate(before: KubeObject, after: KubeObject) {
        expect(believed.get(before.metadata.name)).toBe(before.metadata.resourceVersion)
        believe(after)
      },
      onDelete(object: KubeObject) {
        expect(believed.delete(object.metadata.name)).toBe(true)
      },
    }
    const failures: unknown[] = []
    const guarded = Object.fromEntries(
      Object.entries(calls).map(([name, call]) => [
        name,
        (...args: [KubeObject, KubeObject]) => {
          try {
            call(...args)
          } catch (error) {
            failures.push(error)
          }
        },
      ]),
    )
    informer.addHandler(guarded, { coalesceAfter: seed % 3 === 0 ? 4 : 1024 })
    informer.start()
    for (let i = 0; i < 12_500; i++) {
      const name = `o${random.int(40)}`
      if (random.next() < 0.7) source.set(name)
      else source.remove(name)
      misbehave(source, random)
      if (random.next() < 0.2) await clock.advance(random.int(20_000))
    }
    calm()
    await clock.advance('30m')
    expect(failures).toEqual([])
    const expected = [...source.objects.values()].map((object) => [
      object.metadata.name,
      object.metadata.resourceVersion,
    ])
    expect(informer.store.list().map(({ metadata }) => [metadata.name, metadata.resourceVersion])).toEqual(
      expected.sort(),
    )
    expect([...believed].sort()).toEqual(expected)
    expect(informer.health.state).toBe('watching')
    await informer.stop()
    expect(clock.pending).toEqual([])
  },
)
