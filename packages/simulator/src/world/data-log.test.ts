import { PersistentVolumeClaim, Secret } from '@kubewright/k8s'
import { describe, expect, test } from 'vitest'
import { DataLog } from './data-log.ts'

const secret = (uid: string, password: string) =>
  Secret({ metadata: { name: 'login', namespace: 'default', uid }, data: { password } }) as never
const claim = (uid: string) =>
  PersistentVolumeClaim({ metadata: { name: 'disk', namespace: 'default', uid }, spec: {} }) as never

describe('DataLog.replaced', () => {
  test('has a Secret that was created again with another value, or whose value has changed', () => {
    for (const second of [secret('2', 'Yg=='), secret('1', 'Yg==')]) {
      const log = new DataLog()
      log.see(secret('1', 'YQ=='))
      expect(log.replaced.size).toBe(0)
      log.see(second)
      expect([...log.replaced.keys()]).toEqual(['Secret default/login'])
    }
  })

  test('has no Secret that was created again with the same values', () => {
    const log = new DataLog()
    log.see(secret('1', 'YQ=='))
    log.see(secret('2', 'YQ=='))
    expect(log.replaced.size).toBe(0)
  })

  test('has every volume claim that was created again', () => {
    const log = new DataLog()
    log.see(claim('1'))
    log.see(claim('2'))
    expect([...log.replaced.keys()]).toEqual(['PersistentVolumeClaim default/disk'])
  })

  test('has no Secret that may derive from one that a user has touched', () => {
    const log = new DataLog()
    log.see(secret('1', 'YQ=='))
    log.touch('Secret default/authority')
    log.see(secret('1', 'Yg=='))
    expect(log.replaced.size).toBe(0)
  })

  test('has no object without owner of an object that a user has created again', () => {
    const log = new DataLog()
    log.see(claim('1'))
    log.see(claim('2'))
    log.renew(0)
    log.see(claim('3'))
    expect(log.replaced.size).toBe(0)
    log.see(claim('4'))
    expect(log.replaced.size).toBe(1)
  })

  test('has no object without owner that remained of a former one, or was made for it during a fault', () => {
    for (const isDuringFault of [false, true]) {
      const log = new DataLog()
      if (!isDuringFault) log.see(claim('1'))
      log.renew(0)
      log.see(claim('1'), isDuringFault)
      log.see(claim('2'))
      expect(log.replaced.size).toBe(0)
    }
  })

  test('has nothing that a user has touched', () => {
    const log = new DataLog()
    log.see(claim('1'))
    log.touch('PersistentVolumeClaim default/disk')
    log.see(claim('2'))
    expect(log.replaced.size).toBe(0)
  })
})

describe('DataLog.lostOf', () => {
  const bound = (uid: string, phase: string) => {
    const metadata = { name: 'disk', namespace: 'default', uid }
    return { apiVersion: 'v1', kind: 'PersistentVolumeClaim', metadata, status: { phase } } as never
  }

  test('has a claim that the operator has deleted and another controller has created again', () => {
    const log = new DataLog()
    log.delete(bound('1', 'Bound'))
    expect(log.lostOf([])).toEqual([])
    expect(log.lostOf([bound('1', 'Bound')])).toEqual([])
    expect(log.lostOf([bound('2', 'Pending')]).map(({ id }) => id)).toEqual(['PersistentVolumeClaim default/disk'])
  })

  test('has no claim that had no volume', () => {
    const log = new DataLog()
    log.delete(bound('1', 'Pending'))
    expect(log.lostOf([bound('2', 'Bound')])).toEqual([])
  })
})
