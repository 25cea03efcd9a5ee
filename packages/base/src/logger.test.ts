import { describe, expect, test } from 'vitest'
import { createLogger, memoryLogger, nullLogger } from './logger.ts'

describe('createLogger()', () => {
  test('joins names and merges values, the later value taking precedence', () => {
    const log = memoryLogger()
    const named = log.withName('home').withName('worker').withValues({ a: 1, b: 1 }).withValues({ b: 2 })
    named.info('hello', { b: 3, c: 4 })
    named.info('again')
    log.info('root', { x: 1 })
    expect(log.records).toEqual([
      { level: 0, name: 'home/worker', message: 'hello', values: { a: 1, b: 3, c: 4 } },
      { level: 0, name: 'home/worker', message: 'again', values: { a: 1, b: 2 } },
      { level: 0, name: '', message: 'root', values: { x: 1 } },
    ])
  })

  test('adds up verbosity and drops lines that the sink does not accept', () => {
    const log = memoryLogger(2)
    log.debug('one')
    log.v(1).debug('two')
    log.v(1).v(2).info('three')
    expect(log.records.map(({ level, message }) => [level, message])).toEqual([
      [1, 'one'],
      [2, 'two'],
    ])
    expect([log.enabled(), log.v(2).enabled(), log.v(3).enabled()]).toEqual([true, true, false])
    expect(log.v(0)).toBe(log)
  })

  test('marks warnings, which have the verbosity of their logger', () => {
    const log = memoryLogger(1)
    log.v(1).warn('Slow', { took: '9s' })
    log.v(2).warn('unseen')
    expect(log.records).toEqual([{ level: 1, name: '', message: 'Slow', values: { took: '9s' }, isWarning: true }])
  })

  test('writes errors at any verbosity', () => {
    const log = memoryLogger(0)
    const failure = new Error('no')
    log.v(5).error(failure, 'Cannot start', { name: 'home' })
    log.error(undefined, 'Odd')
    expect(log.records).toEqual([
      { level: 5, name: '', message: 'Cannot start', values: { name: 'home' }, error: failure },
      { level: 0, name: '', message: 'Odd', values: {}, error: undefined },
    ])
    expect('error' in log.records[1]!).toBe(true)
  })

  test('queries the sink with level and name before building a record', () => {
    const asked: [number, string][] = []
    const log = createLogger({
      enabled: (level, name) => {
        asked.push([level, name])
        return false
      },
      write: () => expect.unreachable(),
    })
    log.withName('cache').v(2).info('unseen')
    expect(asked).toEqual([[2, 'cache']])
  })
})

test('nullLogger discards everything', () => {
  const log = nullLogger.withName('a').withValues({ b: 1 }).v(1)
  log.info('x')
  log.debug('x')
  log.error(new Error('x'), 'x')
  expect([log, log.enabled()]).toEqual([nullLogger, false])
})
