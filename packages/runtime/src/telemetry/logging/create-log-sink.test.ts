import { createLogger, type Logger, VirtualClock } from '@kubewright/base'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createLogSink, type LogSinkOptions } from './create-log-sink.ts'
import { parseLogLevel } from './log-level.ts'

function setUp(options: Partial<LogSinkOptions> = {}): { log: Logger; lines: string[] } {
  const lines: string[] = []
  const clock = new VirtualClock({ start: Date.UTC(2026, 0, 2, 3, 4, 5, 60) })
  const write = (line: string): void => void lines.push(line)
  return { log: createLogger(createLogSink({ clock, write, stackTraces: false, ...options })), lines }
}

const reconcile = {
  controller: 'home',
  controllerGroup: 'ajd.example.com',
  controllerKind: 'Home',
  Home: { name: 'cosy', namespace: 'default' },
  namespace: 'default',
  name: 'cosy',
  reconcileID: '01234567-89ab-cdef-0123-456789abcdef',
}

describe('createLogSink() with format json', () => {
  test("writes zap's keys in zap's order", () => {
    const { log, lines } = setUp()
    log.withName('a').withName('b').info('Starting', { workers: 2, none: undefined })
    log.error(new Error('no', { cause: new Error('because') }), 'Reconciler error', { Home: { name: 'x' } })
    expect(lines).toEqual([
      '{"level":"info","ts":"2026-01-02T03:04:05.060Z","logger":"a/b","msg":"Starting","workers":2}',
      '{"level":"error","ts":"2026-01-02T03:04:05.060Z","msg":"Reconciler error","Home":{"name":"x"},"error":"no: because"}',
    ])
  })

  test(`writes warnings with zap's level "warn"`, () => {
    const { log, lines } = setUp()
    log.warn('Cannot list homes')
    expect(lines).toEqual(['{"level":"warn","ts":"2026-01-02T03:04:05.060Z","msg":"Cannot list homes"}'])
  })

  test('includes the stack frames of errors when stackTraces is set', () => {
    const { log, lines } = setUp({ stackTraces: true })
    log.error(new Error('no'), 'Failed')
    log.error('just a text', 'Failed')
    expect(JSON.parse(lines[0]!)).toMatchObject({ error: 'no', stacktrace: expect.stringMatching(/^at /) })
    expect(JSON.parse(lines[1]!)).not.toHaveProperty('stacktrace')
  })

  test('does not let values override the keys of the line', () => {
    const { log, lines } = setUp()
    log.info('real', { msg: 'false', level: 'x' })
    expect(JSON.parse(lines[0]!)).toMatchObject({ msg: 'real', level: 'info', msg_: 'false', level_: 'x' })
  })

  test('writes one line of valid JSON for any values', () => {
    const circular: Record<string, unknown> = { a: 1 }
    circular['self'] = circular
    const hostile = {
      get broken() {
        throw new Error('getter')
      },
    }
    const { log, lines } = setUp()
    log.info('odd', {
      circular,
      big: 1n,
      nan: Number.NaN,
      fn: () => 1,
      map: new Map([[1, 2]]),
      hostile,
      error: new Error('e'),
    })
    expect(JSON.parse(lines[0]!)).toMatchObject({
      circular: { a: 1, self: '[circular]' },
      big: '1',
      nan: 'NaN',
      map: [[1, 2]],
      hostile: '[getter]',
      error_: 'e',
    })
    fc.assert(
      fc.property(fc.string(), fc.object({ withBigInt: true, withDate: true, withMap: true }), (message, values) => {
        lines.length = 0
        log.info(message, values)
        expect(lines[0]).not.toContain('\n')
        expect(JSON.parse(lines[0]!)).toMatchObject({ msg: message })
      }),
    )
  })
})

describe('createLogSink() with format pretty', () => {
  test('writes a reconcile as one readable line', () => {
    const { log, lines } = setUp({ format: 'pretty' })
    log.withName('home-operator').withValues(reconcile).info('Reconciled', { took: '12ms', note: 'two words' })
    log
      .withValues({ ...reconcile, controller: 'janitor', namespace: '' })
      .error(new Error('a\n  b'), 'Reconciler error')
    log.info('Starting', { port: 8081 })
    log.warn('Cannot list homes', { fix: 'Install them' })
    expect(lines).toEqual([
      '03:04:05.060 INFO  home-operator Home default/cosy Reconciled took=12ms note="two words" id=01234567',
      '03:04:05.060 ERROR Home cosy (janitor) Reconciler error a b id=01234567',
      '03:04:05.060 INFO  Starting port=8081',
      '03:04:05.060 WARN  Cannot list homes fix="Install them"',
    ])
  })

  test('colours lines only when color is set', () => {
    const { log, lines } = setUp({ format: 'pretty', color: true })
    log.info('Starting')
    expect(lines[0]).toBe('\u001B[90m03:04:05.060\u001B[0m \u001B[32mINFO \u001B[0m \u001B[1mStarting\u001B[0m')
  })
})

describe('createLogSink() and parseLogLevel()', () => {
  test('hide lines above the level, but never errors', () => {
    const levels = ['error', 0, 1, 2] as const
    const counts = levels.map((level) => {
      const { log, lines } = setUp({ level })
      log.info('a')
      log.debug('b')
      log.v(2).info('c')
      log.error(new Error('d'), 'd')
      return lines.length
    })
    expect(counts).toEqual([1, 2, 3, 4])
  })

  test('use the level names of controller-runtime', () => {
    expect(['info', 'DEBUG', 'error', 'panic', '5'].map(parseLogLevel)).toEqual([0, 1, 'error', 'error', 5])
    expect(() => parseLogLevel('loud')).toThrow('"loud" is not a log level: use error, info, debug or a verbosity')
  })
})
