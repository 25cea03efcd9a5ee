import { describe, expect, test } from 'vitest'
import { AsyncDisposer } from './async-disposer.ts'

describe('AsyncDisposer', () => {
  test('runs cleanups in reverse order and awaits each before the next', async () => {
    const log: string[] = []
    {
      await using disposer = new AsyncDisposer()
      disposer.defer(() => log.push('defer'))
      const resource = {
        async [Symbol.asyncDispose]() {
          log.push('async starts')
          await Promise.resolve()
          log.push('async ends')
        },
      }
      expect(disposer.use(resource)).toBe(resource)
      disposer.use({ [Symbol.dispose]: () => void log.push('sync') })
      expect(disposer.use(undefined)).toBeUndefined()
      expect(disposer.adopt('socket', (value) => log.push(`adopted ${value}`))).toBe('socket')
      expect(disposer.disposed).toBe(false)
    }
    expect(log).toEqual(['adopted socket', 'sync', 'async starts', 'async ends', 'defer'])
  })

  test('disposeAsync() runs every cleanup once', async () => {
    const disposer = new AsyncDisposer()
    let count = 0
    disposer.defer(() => count++)
    const first = disposer.disposeAsync()
    expect(disposer.disposeAsync()).toBe(first)
    await first
    expect([count, disposer.disposed]).toEqual([1, true])
    expect(() => disposer.defer(() => undefined)).toThrow(ReferenceError)
  })

  test('rethrows a single failure unchanged after all cleanups have run', async () => {
    const disposer = new AsyncDisposer()
    const failure = new Error('one')
    let ran = false
    disposer.defer(() => (ran = true))
    disposer.defer(() => Promise.reject(failure))
    await expect(disposer.disposeAsync()).rejects.toBe(failure)
    expect(ran).toBe(true)
  })

  test('rethrows several failures as one AggregateError', async () => {
    const disposer = new AsyncDisposer()
    disposer.defer(() => {
      throw new Error('first in, last out')
    })
    disposer.defer(() => undefined)
    disposer.defer(() => Promise.reject('text'))
    const error = await disposer.disposeAsync().catch((error: unknown) => error)
    expect(error).toBeInstanceOf(AggregateError)
    expect(error).toMatchObject({
      message: '2 of 3 disposals failed: text; first in, last out',
      errors: ['text', new Error('first in, last out')],
    })
  })

  test('move() transfers the cleanups to a new disposer', async () => {
    const disposer = new AsyncDisposer()
    let count = 0
    disposer.defer(() => count++)
    const heir = disposer.move()
    await disposer.disposeAsync()
    expect([count, disposer.disposed]).toEqual([0, true])
    expect(() => disposer.move()).toThrow(ReferenceError)
    await heir.disposeAsync()
    expect(count).toBe(1)
  })

  test('use() rejects a value that is not disposable', () => {
    const notDisposable = {} as unknown as Disposable
    expect(() => new AsyncDisposer().use(notDisposable)).toThrow(TypeError)
  })
})
