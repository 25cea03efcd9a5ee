import { describe, expect, test } from 'vitest'
import { ageOf, firstOf, humanDuration, labelsText, loadBalancerText, quantityText } from './human.ts'

const minute = 60
const hour = 60 * minute
const day = 24 * hour
const year = 365 * day

describe('humanDuration()', () => {
  test.each([
    [-2, '<invalid>'],
    [-1, '0s'],
    [0, '0s'],
    [119, '119s'],
    [2 * minute, '2m'],
    [9 * minute + 59, '9m59s'],
    [10 * minute + 30, '10m'],
    [179 * minute, '179m'],
    [3 * hour, '3h'],
    [7 * hour + 59 * minute, '7h59m'],
    [47 * hour + 59 * minute, '47h'],
    [2 * day, '2d'],
    [7 * day + 23 * hour, '7d23h'],
    [8 * day + 5 * hour, '8d'],
    [2 * year - 1, '729d'],
    [2 * year, '2y'],
    [7 * year + 364 * day, '7y364d'],
    [8 * year + day, '8y'],
  ])('shows %d seconds as %s', (seconds, text) => {
    expect(humanDuration(seconds * 1000)).toBe(text)
  })

  test('truncates to seconds', () => {
    expect(humanDuration(119_999)).toBe('119s')
    expect(humanDuration(-1999)).toBe('0s')
  })
})

describe('ageOf()', () => {
  test('supports timestamps with microseconds', () => {
    expect(ageOf('2024-05-01T10:00:00Z', Date.UTC(2024, 4, 1, 10, 5))).toBe('5m')
    expect(ageOf('2024-05-01T10:00:00.999000Z', Date.UTC(2024, 4, 1, 10, 0, 5))).toBe('4s')
  })

  test.each([undefined, null, ''])('returns <unknown> without a timestamp (%s)', (timestamp) => {
    expect(ageOf(timestamp, 0)).toBe('<unknown>')
  })
})

describe('quantityText()', () => {
  test.each([
    ['1024Mi', '1Gi'],
    ['0.5', '500m'],
    [2, '2'],
    [undefined, '0'],
  ])('shows %s as %s', (quantity, text) => {
    expect(quantityText(quantity)).toBe(text)
  })
})

describe('labelsText()', () => {
  test('sorts labels, and returns <none> without any', () => {
    expect(labelsText({ b: '2', a: '1' })).toBe('a=1,b=2')
    expect(labelsText({})).toBe('<none>')
    expect(labelsText(null)).toBe('<none>')
  })
})

describe('firstOf()', () => {
  test('counts the items that it leaves out', () => {
    expect(firstOf(['a', 'b', 'c'], 3)).toBe('a,b,c')
    expect(firstOf(['a', 'b', 'c', 'd', 'e'], 3)).toBe('a,b,c + 2 more...')
  })
})

describe('loadBalancerText()', () => {
  test('prefers addresses, sorts and removes duplicates', () => {
    const ingress = [{ ip: '9.9.9.9' }, { hostname: 'lb' }, { ip: '1.1.1.1', hostname: 'x' }, { ip: '9.9.9.9' }, {}]
    expect(loadBalancerText({ ingress })).toBe('1.1.1.1,9.9.9.9,lb')
    expect(loadBalancerText(undefined)).toBe('')
  })
})
