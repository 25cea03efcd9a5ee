// URLs with the parsing and error texts of Go's net/url (Parse and ParseRequestURI, Go 1.25), for CEL's url() and the
// format `uri`. The WHATWG parser differs in almost every corner case.
import { goQuote } from './go-quote.ts'
import { IPAddress } from './ip.ts'

type EncodeMode = 'path' | 'userPassword' | 'host' | 'zone' | 'queryComponent' | 'fragment'

/** An immutable URL reference. `host`, `path` and `fragment` are unescaped, as in Go. */
export class GoURL {
  readonly scheme: string
  /** The part after the scheme of an opaque URL such as `mailto:a@b`. */
  readonly opaque: string
  readonly user: { readonly name: string; readonly password: string | undefined } | undefined
  readonly host: string
  readonly path: string
  /** The path as written, if it differs from the default escaping of `path`; else empty. */
  readonly rawPath: string
  /** Whether the text ends with `?`, without a query. */
  readonly forceQuery: boolean
  readonly rawQuery: string
  readonly fragment: string
  readonly rawFragment: string
  /** Whether a path without authority follows the scheme. */
  readonly omitHost: boolean

  private constructor(parts: URLParts) {
    this.scheme = parts.scheme
    this.opaque = parts.opaque
    this.user = parts.user
    this.host = parts.host
    this.path = parts.path
    this.rawPath = parts.rawPath
    this.forceQuery = parts.forceQuery
    this.rawQuery = parts.rawQuery
    this.fragment = parts.fragment
    this.rawFragment = parts.rawFragment
    this.omitHost = parts.omitHost
  }

  /** Parses a URL, which may be relative and may have a fragment. Throws a SyntaxError with Go's text. */
  static parse(text: string): GoURL {
    const hash = text.indexOf('#')
    const main = hash < 0 ? text : text.slice(0, hash)
    const parts = parseParts(main, false, main)
    const fragment = hash < 0 ? '' : text.slice(hash + 1)
    if (fragment === '') return new GoURL(parts)
    return new GoURL(
      withContext(text, () => {
        const unescaped = percentDecode(fragment, 'fragment')
        const rawFragment = percentEncode(unescaped, 'fragment') === fragment ? '' : fragment
        return { ...parts, fragment: unescaped, rawFragment }
      }),
    )
  }

  /** Parses an absolute URI or an absolute path; `#` has no special meaning. Throws a SyntaxError with Go's text. */
  static parseRequestURI(text: string): GoURL {
    return new GoURL(parseParts(text, true, text))
  }

  /** The host without the port and without the brackets of an IPv6 address. */
  get hostname(): string {
    return splitHostPort(this.host)[0]
  }

  /** The digits of the port, or an empty string. */
  get port(): string {
    return splitHostPort(this.host)[1]
  }

  /** The path as sent on the wire: as written if that is a valid escaping, else with the default escaping. */
  get escapedPath(): string {
    if (this.rawPath !== '' && isValidEncoding(this.rawPath, 'path')) return this.rawPath
    return this.path === '*' ? '*' : percentEncode(this.path, 'path')
  }

  /** Returns the values of each query key, in order. Malformed pairs are omitted. */
  query(): Map<string, string[]> {
    const values = new Map<string, string[]>()
    for (const pair of this.rawQuery.split('&')) {
      if (pair === '' || pair.includes(';')) continue
      const equals = pair.indexOf('=')
      const key = tryUnescapeQuery(equals < 0 ? pair : pair.slice(0, equals))
      const value = tryUnescapeQuery(equals < 0 ? '' : pair.slice(equals + 1))
      if (key === undefined || value === undefined) continue
      const list = values.get(key)
      if (list === undefined) values.set(key, [value])
      else list.push(value)
    }
    return values
  }

  toString(): string {
    let out = this.scheme === '' ? '' : `${this.scheme}:`
    if (this.opaque !== '') out += this.opaque
    else out += this.#hierarchy(out !== '')
    if (this.forceQuery || this.rawQuery !== '') out += `?${this.rawQuery}`
    if (this.fragment !== '') {
      const kept = this.rawFragment !== '' && isValidEncoding(this.rawFragment, 'fragment')
      out += `#${kept ? this.rawFragment : percentEncode(this.fragment, 'fragment')}`
    }
    return out
  }

  #hierarchy(hasScheme: boolean): string {
    let out = ''
    const path = this.escapedPath
    if (hasScheme || this.host !== '' || this.user !== undefined) {
      if (!(this.omitHost && this.host === '' && this.user === undefined)) {
        if (this.host !== '' || path !== '' || this.user !== undefined) out += '//'
        if (this.user !== undefined) {
          out += percentEncode(this.user.name, 'userPassword')
          if (this.user.password !== undefined) out += `:${percentEncode(this.user.password, 'userPassword')}`
          out += '@'
        }
        out += percentEncode(this.host, 'host')
      }
    }
    if (path !== '' && !path.startsWith('/') && this.host !== '') out += '/'
    // Without `./`, a first segment with a colon would be parsed as a scheme.
    if (out === '' && !hasScheme && path.split('/', 1)[0]?.includes(':')) out += './'
    return out + path
  }
}

type URLParts = {
  scheme: string
  opaque: string
  user: { name: string; password: string | undefined } | undefined
  host: string
  path: string
  rawPath: string
  forceQuery: boolean
  rawQuery: string
  fragment: string
  rawFragment: string
  omitHost: boolean
}

/** Reports whether `GoURL.parseRequestURI` accepts the text. */
export function isRequestURI(text: string): boolean {
  try {
    GoURL.parseRequestURI(text)
    return true
  } catch {
    return false
  }
}

/** Prefixes the error of a parsing step with the operation and the text, like Go. */
function withContext<T>(text: string, step: () => T): T {
  try {
    return step()
  } catch (error) {
    throw new SyntaxError(`parse ${goQuote(text)}: ${(error as SyntaxError).message}`)
  }
}

function parseParts(text: string, viaRequest: boolean, context: string): URLParts {
  return withContext(context, () => {
    if (/[\x00-\x1f\x7f]/.test(text)) throw new SyntaxError('net/url: invalid control character in URL')
    if (text === '' && viaRequest) throw new SyntaxError('empty url')
    const parts: URLParts = {
      scheme: '',
      opaque: '',
      user: undefined,
      host: '',
      path: '',
      rawPath: '',
      forceQuery: false,
      rawQuery: '',
      fragment: '',
      rawFragment: '',
      omitHost: false,
    }
    if (text === '*') {
      parts.path = '*'
      return parts
    }
    readHierarchy(parts, readQuery(parts, readScheme(parts, text)), viaRequest)
    return parts
  })
}

/** Reads the scheme and returns the rest. */
function readScheme(parts: URLParts, text: string): string {
  if (text.startsWith(':')) throw new SyntaxError('missing protocol scheme')
  const scheme = /^([a-zA-Z][-a-zA-Z0-9+.]*):/.exec(text)
  if (scheme === null) return text
  parts.scheme = (scheme[1] ?? '').toLowerCase()
  return text.slice(scheme[0].length)
}

/** Reads the query and returns the rest. */
function readQuery(parts: URLParts, text: string): string {
  const mark = text.indexOf('?')
  if (mark < 0) return text
  parts.forceQuery = mark === text.length - 1
  parts.rawQuery = text.slice(mark + 1)
  return text.slice(0, mark)
}

function readHierarchy(parts: URLParts, text: string, viaRequest: boolean): void {
  let rest = text
  if (!rest.startsWith('/')) {
    if (parts.scheme !== '') {
      parts.opaque = rest
      return
    }
    if (viaRequest) throw new SyntaxError('invalid URI for request')
    if (rest.split('/', 1)[0]?.includes(':')) {
      throw new SyntaxError('first path segment in URL cannot contain colon')
    }
  }
  if (rest.startsWith('//') && (parts.scheme !== '' || (!viaRequest && !rest.startsWith('///')))) {
    const slash = rest.indexOf('/', 2)
    readAuthority(parts, slash < 0 ? rest.slice(2) : rest.slice(2, slash))
    rest = slash < 0 ? '' : rest.slice(slash)
  } else if (parts.scheme !== '' && rest.startsWith('/')) {
    parts.omitHost = true
  }
  parts.path = percentDecode(rest, 'path')
  parts.rawPath = percentEncode(parts.path, 'path') === rest ? '' : rest
}

function readAuthority(parts: URLParts, authority: string): void {
  const at = authority.lastIndexOf('@')
  parts.host = parseHost(authority.slice(at + 1))
  if (at < 0) return
  const userinfo = authority.slice(0, at)
  if (!/^[-a-zA-Z0-9._:~!$&'()*+,;=%@]*$/.test(userinfo)) throw new SyntaxError('net/url: invalid userinfo')
  const colon = userinfo.indexOf(':')
  const name = percentDecode(colon < 0 ? userinfo : userinfo.slice(0, colon), 'userPassword')
  parts.user = { name, password: colon < 0 ? undefined : percentDecode(userinfo.slice(colon + 1), 'userPassword') }
}

function parseHost(host: string): string {
  const open = host.lastIndexOf('[')
  if (open > 0) throw new SyntaxError('invalid IP-literal')
  if (open === 0) return parseBracketedHost(host)
  const colon = host.lastIndexOf(':')
  if (colon >= 0) checkPort(host.slice(colon))
  return percentDecode(host, 'host')
}

function parseBracketedHost(host: string): string {
  const close = host.lastIndexOf(']')
  if (close < 0) throw new SyntaxError("missing ']' in host")
  checkPort(host.slice(close + 1))
  const port = percentDecode(host.slice(close + 1), 'host')
  const literal = host.slice(1, close)
  const zone = literal.indexOf('%25')
  const name =
    zone < 0
      ? percentDecode(literal, 'host')
      : percentDecode(literal.slice(0, zone), 'host') + percentDecode(literal.slice(zone), 'zone')
  let address: IPAddress
  try {
    address = IPAddress.parse(name)
  } catch (error) {
    throw new SyntaxError(`invalid host: ${(error as SyntaxError).message}`)
  }
  if (address.family === 4) throw new SyntaxError('invalid IP-literal')
  return `[${name}]${port}`
}

function checkPort(colonPort: string): void {
  if (!isOptionalPort(colonPort)) throw new SyntaxError(`invalid port ${goQuote(colonPort)} after host`)
}

function isOptionalPort(text: string): boolean {
  return text === '' || /^:[0-9]*$/.test(text)
}

function splitHostPort(hostPort: string): [host: string, port: string] {
  let host = hostPort
  let port = ''
  const colon = host.lastIndexOf(':')
  if (colon >= 0 && isOptionalPort(host.slice(colon))) {
    port = host.slice(colon + 1)
    host = host.slice(0, colon)
  }
  if (host.startsWith('[') && host.endsWith(']')) host = host.slice(1, -1)
  return [host, port]
}

function tryUnescapeQuery(text: string): string | undefined {
  try {
    return percentDecode(text, 'queryComponent')
  } catch {
    return undefined
  }
}

const ESCAPE = /%(?:[0-9a-fA-F]{2})/y

/**
 * Validates and decodes percent-encoding. Bytes that are not valid UTF-8 become U+FFFD, because JavaScript strings are
 * Unicode.
 */
function percentDecode(text: string, mode: EncodeMode): string {
  const isHost = mode === 'host' || mode === 'zone'
  let hasEscapes = false
  for (let i = 0; i < text.length; i++) {
    const char = text.charAt(i)
    if (char === '%') {
      ESCAPE.lastIndex = i
      const escapeText = text.slice(i, i + 3)
      if (!ESCAPE.test(text)) throw new SyntaxError(`invalid URL escape ${goQuote(escapeText)}`)
      checkHostEscape(escapeText, mode)
      hasEscapes = true
      i += 2
    } else if (isHost && char < '\x80' && shouldEscape(char, mode)) {
      throw new SyntaxError(`invalid character ${goQuote(char)} in host name`)
    }
  }
  const spaced = mode === 'queryComponent' ? text.replaceAll('+', ' ') : text
  return hasEscapes ? spaced.replace(/(?:%[0-9a-fA-F]{2})+/g, decodeRun) : spaced
}

/** In hosts, only non-ASCII bytes and the percent sign of a zone may be escaped; zones allow a few more characters. */
function checkHostEscape(escapeText: string, mode: EncodeMode): void {
  if (escapeText === '%25') return
  const code = Number.parseInt(escapeText.slice(1), 16)
  const char = String.fromCharCode(code)
  const isBad =
    (mode === 'host' && code < 0x80) ||
    (mode === 'zone' && char !== ' ' && (code >= 0x80 || shouldEscape(char, 'host')))
  if (isBad) throw new SyntaxError(`invalid URL escape ${goQuote(escapeText)}`)
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

function decodeRun(run: string): string {
  const bytes = run
    .split('%')
    .slice(1)
    .map((hex) => Number.parseInt(hex, 16))
  return decoder.decode(Uint8Array.from(bytes))
}

const encoder = new TextEncoder()

function percentEncode(text: string, mode: EncodeMode): string {
  let out = ''
  for (const char of text) {
    if (char < '\x80' && !shouldEscape(char, mode)) out += char
    else if (char === ' ' && mode === 'queryComponent') out += '+'
    else for (const byte of encoder.encode(char)) out += `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  }
  return out
}

const HOST_PLAIN = /[a-zA-Z0-9\-_.~!$&'()*+,;=:[\]<>"]/
const PLAIN: Readonly<Record<EncodeMode, RegExp>> = {
  host: HOST_PLAIN,
  zone: HOST_PLAIN,
  path: /[a-zA-Z0-9\-_.~$&+,/:;=@]/,
  userPassword: /[a-zA-Z0-9\-_.~$&+,;=]/,
  queryComponent: /[a-zA-Z0-9\-_.~]/,
  fragment: /[a-zA-Z0-9\-_.~$&+,/:;=?@!()*]/,
}

function shouldEscape(char: string, mode: EncodeMode): boolean {
  return !PLAIN[mode].test(char)
}

function isValidEncoding(text: string, mode: EncodeMode): boolean {
  for (const char of text) {
    if (!"!$&'()*+,;=:@[]%".includes(char) && (char >= '\x80' || shouldEscape(char, mode))) return false
  }
  return true
}
