import { condition, defineResource, newConflict } from '@kubewright/api'
import { isKubewrightError } from '@kubewright/base'
import { s } from '@kubewright/schema'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ReconcileError, RetryLater, TerminalError } from '../controller/reconcile-errors.ts'
import { defineController } from '../define/define-controller.ts'
import { type Bench, startBench } from './testdata/bench.ts'
import { Home, install } from './testdata/home.ts'

let bench: Bench
beforeEach(async () => {
  bench = await startBench()
  await bench.client.create(Home({ metadata: { name: 'cosy' }, spec: { image: 'nginx:1.27' } }))
})
afterEach(async () => {
  await bench[Symbol.asyncDispose]()
})

const key = 'default/cosy'
const get = () => bench.client.get(Home, 'cosy')
const ready = async () => (await get()).status?.conditions?.find(({ type }) => type === 'Ready')
const failed = condition('Ready', false, 'Unreachable', 'no connection')

/** Runs consecutive reconciles, each of which returns or throws the given value. */
function outcomes(options: object = {}) {
  let next: () => unknown = () => undefined
  const reconcile = bench.run(defineController(Home, { ...options, reconcile: () => next() as undefined }))
  return async (outcome: () => unknown) => {
    next = outcome
    return reconcile(key)
  }
}
const raise = (error: unknown) => (): never => {
  throw error
}

describe('ReconcileError', () => {
  test('writes its status and rejects the reconcile with the error itself', async () => {
    const error = new ReconcileError('Unreachable', { mergeStatus: { readyReplicas: 2, conditions: [failed] } })
    await expect(outcomes()(raise(error))).rejects.toBe(error)
    expect((await get()).status).toMatchObject({ readyReplicas: 2, conditions: [{ reason: 'Unreachable' }] })
  })

  test('writes its status as the cause of another error, and keeps other fields', async () => {
    const run = outcomes()
    await run(() => ({ status: { readyReplicas: 3, conditions: [condition('Reachable', true, 'Answers')] } }))
    const cause = new ReconcileError('Unreachable', { mergeStatus: { conditions: [failed] } })
    await expect(run(raise(new Error('Cannot scale', { cause })))).rejects.toThrow('Cannot scale')
    const { status } = await get()
    expect([status?.readyReplicas, status?.conditions?.map(({ type }) => type)]).toEqual([3, ['Reachable', 'Ready']])
  })

  test('rejects with itself and logs when its status cannot be written', async () => {
    bench.before = ({ text }) => {
      if (text.endsWith('/status')) throw new Error('server is down')
    }
    const error = new ReconcileError('Unreachable', { mergeStatus: { conditions: [failed] } })
    await expect(outcomes()(raise(error))).rejects.toBe(error)
    expect(bench.log.records.map(({ message }) => message)).toContain(
      'Status of a failed reconcile could not be written',
    )
  })
})

describe('TerminalError', () => {
  test('without a status records a Warning Event and sets Ready to False', async () => {
    await expect(outcomes()(raise(new TerminalError('bad spec')))).rejects.toThrow('bad spec')
    expect(bench.events.map(({ note }) => note)).toEqual([
      { type: 'Warning', reason: 'TerminalError', message: 'bad spec' },
    ])
    expect(await ready()).toMatchObject({ status: 'False', reason: 'TerminalError', message: 'bad spec' })
  })

  test('with a status records no Event', async () => {
    const error = new TerminalError('bad spec', { mergeStatus: { conditions: [failed] } })
    await expect(outcomes()(raise(error))).rejects.toBe(error)
    expect([bench.events, (await ready())?.reason]).toEqual([[], 'Unreachable'])
  })

  test('leaves no condition behind after a reconcile that succeeds without a status', async () => {
    const run = outcomes()
    await run(() => ({ status: { readyReplicas: 3 } }))
    await expect(run(raise(new TerminalError('bad spec')))).rejects.toThrow()
    await run(() => undefined)
    const { status } = await get()
    expect([status?.conditions ?? [], status?.readyReplicas]).toEqual([[], 3])
    bench.writes()
    await run(() => undefined)
    expect(bench.writes()).toEqual([])
  })

  test('is replaced by the error of the write when its status cannot be written, so that it is retried', async () => {
    bench.before = ({ text }) => {
      if (text.endsWith('/status')) throw new Error('server is down')
    }
    const error: unknown = await outcomes()(raise(new TerminalError('bad spec'))).catch((reason: unknown) => reason)
    expect(isKubewrightError(error, 'KW_TERMINAL')).toBe(false)
  })

  test.each([
    [['Available', 'Stalled'], { type: 'Stalled', status: 'True' }],
    [['Available'], { type: 'Available', status: 'Unknown' }],
    [[], { type: 'Stalled', status: 'True' }],
  ] as const)('sets a condition that fits the declared types %j', async (types, expected) => {
    const Thing = defineResource({
      group: 'ajd.example.com',
      version: 'v1',
      kind: 'Thing',
      spec: s.object({}),
      status: s.object({ conditions: s.conditions(...types).optional() }),
    })
    await install(bench.client, Thing)
    await bench.client.create(Thing({ metadata: { name: 'a' }, spec: {} }))
    const run = bench.run(defineController(Thing, { reconcile: raise(new TerminalError('bad')) }))
    await expect(run('default/a')).rejects.toThrow('bad')
    expect((await bench.client.get(Thing, 'a')).status?.conditions).toMatchObject([expected])
  })
})

describe('ControllerOptions.onError', () => {
  const onError = (_: unknown, { message }: Error) => ({
    mergeStatus: { conditions: [condition('Ready', false, 'Failed', message)] },
  })

  test('determines the status of a failure, also of a thrown value that is no Error', async () => {
    const run = outcomes({ onError })
    await expect(run(raise(new Error('no route')))).rejects.toThrow('no route')
    expect(await ready()).toMatchObject({ status: 'False', reason: 'Failed', message: 'no route' })
    await expect(run(raise('text'))).rejects.toBe('text')
    expect(await ready()).toMatchObject({ message: 'text' })
  })

  test('is not called for errors with a status, conflicts and RetryLater', async () => {
    const run = outcomes({ onError })
    await expect(run(raise(new ReconcileError('x', { mergeStatus: { conditions: [failed] } })))).rejects.toThrow()
    expect((await ready())?.reason).toBe('Unreachable')
    for (const error of [
      new RetryLater('later', { requeueAfter: '1s' }),
      newConflict({ group: '', resource: 'pods' }, 'a', 'stale'),
    ]) {
      await expect(run(raise(error))).rejects.toBe(error)
    }
    expect((await ready())?.reason).toBe('Unreachable')
  })

  test('that fails is logged and changes neither status nor error', async () => {
    const run = outcomes({ onError: raise(new Error('oops')) } as object)
    await expect(run(raise(new Error('no route')))).rejects.toThrow('no route')
    expect((await get()).status).toBeUndefined()
  })

  test('determines the status of a terminal error, which then records no Event', async () => {
    await expect(outcomes({ onError })(raise(new TerminalError('bad')))).rejects.toThrow('bad')
    expect([(await ready())?.reason, bench.events]).toEqual(['Failed', []])
  })
})

describe('Context', () => {
  test('mergeStatus() writes in the order of the calls, before the reconcile ends', async () => {
    const seen: unknown[] = []
    const run = bench.run(
      defineController(Home, {
        async reconcile(_, { mergeStatus }) {
          await Promise.all([
            mergeStatus({ readyReplicas: 2 }),
            mergeStatus({ readyReplicas: 1, conditions: [failed] }),
            mergeStatus({ conditions: [condition('Reachable', true, 'Answers')] }),
          ])
          seen.push((await get()).status)
        },
      }),
    )
    await run(key)
    const { status } = await get()
    expect(seen).toEqual([status])
    expect([status?.readyReplicas, status?.conditions?.map(({ type }) => type)]).toEqual([1, ['Ready', 'Reachable']])
  })

  test('event() takes an action, a related object and another object to be about', async () => {
    const related = await get()
    const about = { ...related, metadata: { ...related.metadata, name: 'other' } }
    const run = bench.run(
      defineController(Home, {
        reconcile: (_, { event }) => event('Normal', 'Moved', 'moved', { action: 'Move', related, about }),
      }),
    )
    await run(key)
    expect(bench.events).toEqual([
      { regarding: about, note: { type: 'Normal', reason: 'Moved', message: 'moved', action: 'Move', related } },
    ])
  })
})

describe('Outcome.mergeStatus', () => {
  test('keeps fields and conditions of earlier reconciles, their times and their owner', async () => {
    const run = outcomes()
    await run(() => ({
      status: { readyReplicas: 3, conditions: [condition('Ready', true, 'Up'), condition('Reachable', true, 'Up')] },
    }))
    await bench.clock.advance('1m')
    await run(() => ({ mergeStatus: { conditions: [condition('Ready', true, 'StillUp')] } }))
    const { status, metadata } = await get()
    expect(status).toMatchObject({
      readyReplicas: 3,
      conditions: [
        { type: 'Ready', reason: 'StillUp', lastTransitionTime: '2025-01-01T00:00:00Z' },
        { type: 'Reachable', reason: 'Up', lastTransitionTime: '2025-01-01T00:00:00Z' },
      ],
    })
    const own = metadata.managedFields?.find(({ manager }) => manager === 'home-operator/home')
    expect(own?.fieldsV1).toMatchObject({ 'f:status': { 'f:readyReplicas': {} } })
    bench.writes()
    await run(() => ({ mergeStatus: { readyReplicas: 3 } }))
    expect(bench.writes()).toEqual([])
    // The full form still removes what it does not contain.
    await run(() => ({ status: {} }))
    expect((await get()).status).toEqual({ observedGeneration: 1 })
  })

  test('observes the generation that was reconciled', async () => {
    const run = outcomes()
    await run(() => ({ status: { readyReplicas: 1 } }))
    await bench.client.patch(Home, 'cosy', { spec: { replicas: 3 } })
    await run(() => ({ mergeStatus: { readyReplicas: undefined } }))
    expect((await get()).status).toEqual({ readyReplicas: 1, observedGeneration: 2 })
  })

  test('cannot be combined with status', async () => {
    await expect(outcomes()(() => ({ status: {}, mergeStatus: {} }))).rejects.toThrow(
      "either 'status' or 'mergeStatus'",
    )
  })
})

describe('status of cleanup', () => {
  test('is written before the finalizer is removed, and with requeueAfter', async () => {
    let requeueAfter: '1m' | undefined = '1m'
    const run = bench.run(
      defineController(Home, {
        reconcile: () => undefined,
        cleanup: () => ({ mergeStatus: { conditions: [condition('Ready', false, 'Stopping')] }, requeueAfter }),
      }),
    )
    await run(key)
    await bench.client.delete(Home, 'cosy')
    bench.writes()
    expect(await run(key)).toEqual({ requeueAfter: '1m' })
    expect((await ready())?.reason).toBe('Stopping')
    requeueAfter = undefined
    const written: string[] = []
    bench.before = ({ text }) => void written.push(text)
    await bench.client.patch(Home, 'cosy', { spec: { replicas: 2 } })
    await run(key)
    const paths = written.filter((text) => text.startsWith('PATCH')).map((text) => text.split('/').at(-1))
    expect(paths).toEqual(['status', 'cosy'])
    expect(await bench.client.find(Home, 'cosy')).toBeUndefined()
  })
})
