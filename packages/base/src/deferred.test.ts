import { expect, test } from 'vitest'
import { Deferred } from './deferred.ts'

test('Deferred.resolve() settles once and works as a bare callback', async () => {
  const deferred = new Deferred<number>()
  expect(deferred.settled).toBe(false)
  const { resolve, reject } = deferred
  resolve(1)
  resolve(2)
  reject(new Error('late'))
  expect(deferred.settled).toBe(true)
  expect(await deferred.promise).toBe(1)
})

test('Deferred.reject() rejects the promise', async () => {
  const deferred = new Deferred()
  deferred.reject('no')
  expect(deferred.settled).toBe(true)
  await expect(deferred.promise).rejects.toBe('no')
})
