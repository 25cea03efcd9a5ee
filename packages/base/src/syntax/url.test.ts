import { describe, expect, test } from 'vitest'
import { GoURL, isRequestURI } from './url.ts'

describe('GoURL.parseRequestURI()', () => {
  test.each([
    ['', 'parse "": empty url'],
    ['../relative', 'parse "../relative": invalid URI for request'],
    ['https://a:b:c/', 'parse "https://a:b:c/": invalid port ":c" after host'],
    [':foo', 'parse ":foo": missing protocol scheme'],
    ['http://a b/', 'parse "http://a b/": invalid character " " in host name'],
    ['http://[::1', 'parse "http://[::1": missing \']\' in host'],
    ['http://x/%zz', 'parse "http://x/%zz": invalid URL escape "%zz"'],
    ['http://x/%2', 'parse "http://x/%2": invalid URL escape "%2"'],
    ['http://%41/', 'parse "http://%41/": invalid URL escape "%41"'],
    ['/a\nb', 'parse "/a\\nb": net/url: invalid control character in URL'],
    ['http://u ser@x/', 'parse "http://u ser@x/": net/url: invalid userinfo'],
  ])('rejects %j', (text, message) => {
    expect(() => GoURL.parseRequestURI(text)).toThrow(new SyntaxError(message))
    expect(isRequestURI(text)).toBe(false)
  })

  test('accepts absolute URIs, opaque URIs and absolute paths', () => {
    for (const text of ['http://x', 'mailto:a@b', '/path', '*', 'http://[fe80::1%25en0]:80/']) {
      expect(isRequestURI(text)).toBe(true)
    }
  })
})

describe('GoURL.parse()', () => {
  test('keeps an encoded byte order mark', () => {
    expect(GoURL.parse('/a%EF%BB%BFb').path).toBe('/a\ufeffb')
  })

  test('splits a complete URL', () => {
    const url = GoURL.parse('HTTPS://user:p%40ss@[::1]:80/a%2Fb/c d?k=a&k=b+c&x=%zz&y;#frag')
    expect(url.scheme).toBe('https')
    expect(url.user).toEqual({ name: 'user', password: 'p@ss' })
    expect([url.host, url.hostname, url.port]).toEqual(['[::1]:80', '::1', '80'])
    expect(url.path).toBe('/a/b/c d')
    // The path as written is not a valid escaping, so the default escaping is used.
    expect(url.escapedPath).toBe('/a/b/c%20d')
    expect([...url.query()]).toEqual([['k', ['a', 'b c']]])
    expect(url.fragment).toBe('frag')
  })

  test.each([
    'https://user@example.com:80/path?query=val#fragment',
    'https://example.com/a%2Fb',
    '/path?',
    'mailto:a@b.c',
    'file:///etc/hosts',
    'http:/x',
    '//host/x',
  ])('toString() reproduces %s', (text) => {
    expect(GoURL.parse(text).toString()).toBe(text)
  })

  test('escapedPath keeps a valid escaping', () => {
    expect(GoURL.parse('http://x/a%2Fb').escapedPath).toBe('/a%2Fb')
    expect(GoURL.parse('http://x/ä').escapedPath).toBe('/%C3%A4')
  })

  test('rejects a colon in the first segment of a relative reference', () => {
    const message = 'parse "a_b:c/d": first path segment in URL cannot contain colon'
    expect(() => GoURL.parse('a_b:c/d')).toThrow(new SyntaxError(message))
  })
})
