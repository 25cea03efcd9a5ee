import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { formatNetIP, IPAddress, IPPrefix, parseCIDRSloppy, parseIPSloppy } from './ip.ts'

describe('IPAddress.parse()', () => {
  test.each([
    ['127.0.0.1', '127.0.0.1'],
    ['2001:DB8::ABCD', '2001:db8::abcd'],
    ['2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['1:0:2:3:4:5:6:7', '1:0:2:3:4:5:6:7'],
    ['::', '::'],
    ['1::', '1::'],
    ['::ffff:1.2.3.4', '::ffff:1.2.3.4'],
    ['fe80::1%eth0', 'fe80::1%eth0'],
  ])('parses %j and prints it as %j', (text, printed) => {
    expect(IPAddress.parse(text).toString()).toBe(printed)
  })

  test.each([
    ['127.0.0.256', 'ParseAddr("127.0.0.256"): IPv4 field has value >255'],
    ['127.0.0.01', 'ParseAddr("127.0.0.01"): IPv4 field has octet with leading zero'],
    ['127.0.0', 'ParseAddr("127.0.0"): IPv4 address too short'],
    ['1.2.3.4.5', 'ParseAddr("1.2.3.4.5"): IPv4 address too long'],
    ['1..2.3', 'ParseAddr("1..2.3"): IPv4 field must have at least one digit (at ".2.3")'],
    ['1.2.3.a', 'ParseAddr("1.2.3.a"): unexpected character (at "a")'],
    [':::1', 'ParseAddr(":::1"): each colon-separated field must have at least one digit (at ":1")'],
    ['1:2', 'ParseAddr("1:2"): address string too short'],
    ['1::2::3', 'ParseAddr("1::2::3"): multiple :: in address (at ":3")'],
    ['12345::', 'ParseAddr("12345::"): each group must have 4 or less digits (at "12345::")'],
    ['1:2:3:4:5:6:7:8:9', 'ParseAddr("1:2:3:4:5:6:7:8:9"): trailing garbage after address (at "9")'],
    ['::1%', 'ParseAddr("::1%"): zone must be a non-empty string'],
    ['', 'ParseAddr(""): unable to parse IP'],
    ['abc', 'ParseAddr("abc"): unable to parse IP'],
  ])('rejects %j', (text, message) => {
    expect(() => IPAddress.parse(text)).toThrow(new SyntaxError(message))
  })

  test('parses every address that toString() prints', () => {
    const groups = fc.array(fc.constantFrom(0, 0, 0, 1, 0xffff), { minLength: 16, maxLength: 16 })
    fc.assert(
      fc.property(groups, (bytes) => {
        const address = new IPAddress(Uint8Array.from(bytes))
        expect(IPAddress.parse(address.toString()).equal(address)).toBe(true)
      }),
    )
  })
})

test.each([
  ['0.0.0.0', 'isUnspecified'],
  ['::', 'isUnspecified'],
  ['127.9.9.9', 'isLoopback'],
  ['::1', 'isLoopback'],
  ['224.0.0.9', 'isLinkLocalMulticast'],
  ['ff02::1', 'isLinkLocalMulticast'],
  ['169.254.1.1', 'isLinkLocalUnicast'],
  ['fe80::1', 'isLinkLocalUnicast'],
  ['192.168.0.1', 'isGlobalUnicast'],
  ['fd00::1', 'isGlobalUnicast'],
] as const)('IPAddress classifies %s only as %s', (text, kind) => {
  const address = IPAddress.parse(text)
  const kinds = [
    'isUnspecified',
    'isLoopback',
    'isLinkLocalMulticast',
    'isLinkLocalUnicast',
    'isGlobalUnicast',
  ] as const
  expect(kinds.filter((name) => address[name]())).toEqual([kind])
})

describe('IPPrefix', () => {
  test.each([
    ['192.168.0.0', 'netip.ParsePrefix("192.168.0.0"): no \'/\''],
    ['192.168.0.0/33', 'netip.ParsePrefix("192.168.0.0/33"): prefix length out of range'],
    ['192.168.0.0/01', 'netip.ParsePrefix("192.168.0.0/01"): bad bits after slash: "01"'],
    ['192.168.0.0/', 'netip.ParsePrefix("192.168.0.0/"): bad bits after slash: ""'],
    ['fe80::1%a/64', 'netip.ParsePrefix("fe80::1%a/64"): IPv6 zones cannot be present in a prefix'],
    ['x/1', 'netip.ParsePrefix("x/1"): ParseAddr("x"): unable to parse IP'],
  ])('parse() rejects %j', (text, message) => {
    expect(() => IPPrefix.parse(text)).toThrow(new SyntaxError(message))
  })

  test('masked() clears the host bits', () => {
    expect(IPPrefix.parse('192.168.77.13/20').masked().toString()).toBe('192.168.64.0/20')
    expect(IPPrefix.parse('2001:db8::ff/0').masked().toString()).toBe('::/0')
  })

  test('contains() and overlaps() compare the network bits within one family', () => {
    const net = IPPrefix.parse('10.0.0.0/9')
    expect(net.contains(IPAddress.parse('10.127.1.1'))).toBe(true)
    expect(net.contains(IPAddress.parse('10.128.1.1'))).toBe(false)
    expect(net.contains(IPAddress.parse('::ffff:10.0.0.1'))).toBe(false)
    expect(net.overlaps(IPPrefix.parse('10.0.0.0/8'))).toBe(true)
    expect(net.overlaps(IPPrefix.parse('10.128.0.0/9'))).toBe(false)
  })
})

describe('sloppy parsers', () => {
  test.each([
    ['010.001.0.1', '10.1.0.1'],
    ['::ffff:010.0.0.1', '10.0.0.1'],
    ['00001::', '1::'],
    ['1.2.3', undefined],
    ['fe80::1%eth0', undefined],
    ['x', undefined],
  ])('parseIPSloppy() parses %j as %j', (text, printed) => {
    const address = parseIPSloppy(text)
    expect(address && formatNetIP(address)).toBe(printed)
  })

  test.each([
    ['010.0.0.0/08', '10.0.0.0/8'],
    ['1.2.3.4/33', undefined],
    ['1.2.3.4', undefined],
    ['::/128', '::/128'],
  ])('parseCIDRSloppy() parses %j as %j', (text, printed) => {
    expect(parseCIDRSloppy(text)?.toString()).toBe(printed)
  })
})

test('parseIPSloppy() and parseCIDRSloppy() refuse long texts in linear time', () => {
  for (const part of ['.', '1.', '0', '::1.', ':0']) {
    const text = `${part.repeat(100_000)}x`
    expect(parseIPSloppy(text)).toBeUndefined()
    expect(parseCIDRSloppy(`${text}/8`)).toBeUndefined()
  }
})
