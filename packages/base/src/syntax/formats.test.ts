import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatCheck, isSupportedFormat, matchesFormat } from './formats.ts'

describe('matchesFormat()', () => {
  const good: readonly (readonly [string, readonly string[]])[] = [
    ['bsonobjectid', ['507f1f77bcf86cd799439011']],
    ['uri', ['http://example.com/a b', '/path', 'mailto:x']],
    ['email', ['a@b', 'Ann <a@b.c>', '"a b"@c', 'a@[127.0.0.1]', 'a@b (comment)', 'group: a@b;', 'ä@ö']],
    ['hostname', ['localhost', 'a.example.com', 'ä.example', 'a-b']],
    ['ipv4', ['1.2.3.4', '01.2.3.4', '::ffff:1.2.3.4']],
    ['ipv6', ['::1', '::ffff:1.2.3.4']],
    ['cidr', ['10.0.0.0/8', '::1/64', '010.0.0.1/24']],
    ['mac', ['00:00:5e:00:53:01', '0000.5e00.5301', '02-00-5e-10-00-00-00-01']],
    ['uuid', ['A987FBC9-4BED-3078-CF07-9141BA07C9F3', 'a987fbc94bed3078cf079141ba07c9f3']],
    ['uuid4', ['625e63f3-58f5-40b7-83a1-a72ad31acffb']],
    ['isbn', ['0321751043', '978-0321751041']],
    ['creditcard', ['4111 1111 1111 1111']],
    ['ssn', ['111-11-1111', '111 11 1111']],
    ['hexcolor', ['#fff', 'AABBCC']],
    ['rgbcolor', ['rgb(1, 22,255)']],
    ['byte', ['aGk=', 'aGkh']],
    ['password', ['', 'anything']],
    ['date', ['2020-02-29']],
    ['duration', ['1h2m', '-5s', '3 days', '1 week and more', '0']],
    ['date-time', ['2020-01-01T00:00:00Z', '2020-01-01t00:00:00.5+01:00']],
    ['k8s-short-name', ['a-1']],
    ['k8s-long-name', ['a.b-1.c']],
  ]
  test.each(good)('%s accepts %j', (name, values) => {
    expect(values.filter((value) => !matchesFormat(name, value))).toEqual([])
  })

  const bad: readonly (readonly [string, readonly string[]])[] = [
    ['bsonobjectid', ['507f1f77bcf86cd79943901', 'x'.repeat(24)]],
    ['uri', ['', 'relative', 'http://a b/']],
    ['email', ['', 'a', 'a@', '@b', 'a..b@c', 'a@b c@d', 'a@[x]', 'Ann <a@b', 'g: a@b, c@d;', 'a@b (open']],
    ['hostname', ['', '-a', 'a_b', 'a..b', `${'a'.repeat(64)}.example`]],
    ['ipv4', ['::1', '1.2.3', '1.2.3.256']],
    ['ipv6', ['1.2.3.4', 'fe80::1%eth0']],
    ['cidr', ['10.0.0.0', '10.0.0.0/33', 'x/8']],
    ['mac', ['00:00:5e:00:53', '00:00-5e:00:53:01', '00:00:5e:00:53:0g']],
    ['uuid3', ['a987fbc9-4bed-4078-8f07-9141ba07c9f3']],
    ['isbn10', ['0321751044']],
    ['isbn13', ['9780321751042']],
    ['creditcard', ['4111111111111112', '1234']],
    ['ssn', ['111111111', '1111-11-111']],
    ['rgbcolor', ['rgb(256,0,0)', 'rgb(1,2)']],
    ['byte', ['', 'a', '_-==']],
    ['date', ['2021-02-29', '2021-2-1']],
    ['duration', ['', 'x', '5', '99999999999999999999 days']],
    ['date-time', ['2020-01-01', '2020-01-01T24:00:00Z', '2020-01-01T00:00:00']],
    ['k8s-short-name', ['a.b', 'A', 'a'.repeat(64)]],
  ]
  test.each(bad)('%s rejects %j', (name, values) => {
    expect(values.filter((value) => matchesFormat(name, value))).toEqual([])
  })
})

test('isSupportedFormat() ignores dashes and rejects unsupported formats', () => {
  expect(['date-time', 'datetime', 'k8s-short-name', 'uuid'].every(isSupportedFormat)).toBe(true)
  expect(['int32', 'ip', 'regex', ''].some(isSupportedFormat)).toBe(false)
  expect(formatCheck('int32')).toBeUndefined()
})

/** The rules as stated by kube-openapi, without a fast path. */
const HOSTNAME =
  /^(?:[a-zA-Z0-9\p{S}\p{L}](?:-?[a-zA-Z0-9\p{S}\p{L}]{0,62})?|(?:[a-zA-Z0-9\p{S}\p{L}](?:[a-zA-Z0-9\-\p{S}\p{L}]{0,61}[a-zA-Z0-9\p{S}\p{L}])?\.)+[a-zA-Z\p{L}]{2,63})$/u

test('matchesFormat() of hostname agrees with the regular expression of kube-openapi', () => {
  const parts = fc.constantFrom('a', 'b', 'Z', '7', '-', '.', '.', '$', '_', 'ä', 'a'.repeat(31), 'x'.repeat(62))
  const names = fc.array(parts, { maxLength: 9 }).map((list) => list.join(''))
  const fits = (name: string): boolean =>
    Buffer.byteLength(name) <= 255 && name.split('.').every((part) => Buffer.byteLength(part) <= 63)
  fc.assert(
    fc.property(names, (name) => {
      expect(matchesFormat('hostname', name)).toBe(HOSTNAME.test(name) && fits(name))
    }),
    { numRuns: 3000 },
  )
})

test('matchesFormat() of date-time gives the same result on its fast and slow paths', () => {
  const digits = (min: number, max: number, width: number) =>
    fc.integer({ min, max }).map((value) => String(value).padStart(width, '0'))
  const times = fc.tuple(digits(0, 9999, 4), ...[13, 32, 25, 61, 61].map((max) => digits(0, max, 2)))
  fc.assert(
    fc.property(times, ([year, month, day, hour, minute, second]) => {
      const text = `${year}-${month}-${day}T${hour}:${minute}:${second}`
      expect(matchesFormat('date-time', `${text}Z`)).toBe(matchesFormat('date-time', `${text}.0Z`))
    }),
  )
})

// With quadratic time, a million digits would take half an hour.
test('matchesFormat() searches a long text for a duration in linear time', () => {
  expect(matchesFormat('duration', '1'.repeat(1_000_000))).toBe(false)
})
