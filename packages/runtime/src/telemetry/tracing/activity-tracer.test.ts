import { memoryLogger, systemClock } from '@kubewright/base'
import { expect, test } from 'vitest'
import { ActivityTracer } from './activity-tracer.ts'
import { noTracer, type Tracer } from './tracer.ts'

const request = { 'http.request.method': 'PATCH', 'url.path': '/api/v1/pods' }

test('ActivityTracer records the requests of each reconcile after watch()', async () => {
  const tracer = new ActivityTracer(noTracer, systemClock)
  const reconcile = (id: string) =>
    tracer.span('reconcile', { 'reconcile.id': id }, async () => {
      await Promise.resolve()
      await tracer.span('PATCH pods', request, async () => 'ok')
      await tracer.span('PATCH pods', request, () => Promise.reject(new Error('conflict'))).catch(() => undefined)
    })
  expect(tracer.isActive).toBe(false)
  await reconcile('before')
  expect(tracer.requestsOf('before')).toBeUndefined()
  tracer.watch()
  expect(tracer.isActive).toBe(true)
  await Promise.all([reconcile('one'), reconcile('two')])
  for (const id of ['one', 'two'])
    expect(tracer.requestsOf(id)).toMatchObject([
      { method: 'PATCH', path: '/api/v1/pods', durationMillis: expect.any(Number) },
      { method: 'PATCH', error: 'conflict' },
    ])
})

test('ActivityTracer records the answers of admission webhooks', async () => {
  const tracer = new ActivityTracer(noTracer, systemClock)
  tracer.watch()
  const body = JSON.stringify({ response: { allowed: false, status: { message: 'too many rooms' } } })
  await tracer.span('webhook', { 'webhook.path': '/validate' }, async () => ({ status: 200, body }))
  expect(tracer.calls).toMatchObject([{ path: '/validate', allowed: false, message: 'too many rooms' }])
})

test('ActivityTracer passes spans on to the other tracer, watched or not', () => {
  const names: string[] = []
  const inner: Tracer = {
    span(name, _attributes, work) {
      names.push(name)
      return work({ set: () => undefined, fail: () => undefined, end: () => undefined })
    },
  }
  const tracer = new ActivityTracer(inner, systemClock)
  expect(tracer.isActive).toBe(true)
  expect(tracer.span('one', {}, () => 1)).toBe(1)
  tracer.watch()
  expect(tracer.span('two', {}, () => 2)).toBe(2)
  expect(names).toEqual(['one', 'two'])
})

test('ActivityTracer copies the log lines of a reconcile after watch(), and passes them on', () => {
  const tracer = new ActivityTracer(noTracer, systemClock)
  const log = memoryLogger(0)
  tracer.loggerOf('early', log).info('unseen')
  expect(tracer.linesOf('early')).toBeUndefined()
  tracer.watch()
  const logger = tracer.loggerOf('id', log.withValues({ reconcileID: 'id' }))
  logger.withValues({ pod: 'web' }).info('Scaled', { replicas: 3 })
  logger.debug('Compared')
  logger.v(2).info('Details')
  logger.warn('Slow')
  const failure = new Error('no room')
  logger.withName('dns').error(failure, 'Cannot write')
  expect(tracer.linesOf('id')).toMatchObject([
    { level: 'info', message: 'Scaled', values: { pod: 'web', replicas: 3 } },
    { level: 'debug', message: 'Compared', values: {} },
    { level: 'debug', message: 'Details' },
    { level: 'warning', message: 'Slow' },
    { level: 'error', message: 'Cannot write', error: failure },
  ])
  expect(log.records.map(({ message }) => message)).toEqual(['unseen', 'Scaled', 'Slow', 'Cannot write'])
})
