import type { ApiResponse, BodySink } from '@kubewright/api'

/** Larger pages are passed on with their links unchanged. */
const maxPageBytes = 16 * 1024 * 1024

/** The attributes with URLs by element (apimachinery/pkg/util/proxy/transport.go). */
const urlAttributes: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    a: ['href'],
    applet: ['codebase'],
    area: ['href'],
    audio: ['src'],
    base: ['href'],
    blockquote: ['cite'],
    body: ['background'],
    button: ['formaction'],
    command: ['icon'],
    del: ['cite'],
    embed: ['src'],
    form: ['action'],
    frame: ['longdesc', 'src'],
    head: ['profile'],
    html: ['manifest'],
    iframe: ['longdesc', 'src'],
    img: ['longdesc', 'src', 'usemap'],
    input: ['src', 'usemap', 'formaction'],
    ins: ['cite'],
    link: ['href'],
    object: ['classid', 'codebase', 'data', 'usemap'],
    q: ['cite'],
    script: ['src'],
    source: ['src'],
    video: ['src', 'poster'],
  }),
)

/** The elements whose content is text up to their end tag. */
const rawElements: ReadonlySet<string> = new Set(
  'iframe noembed noframes noscript plaintext script style textarea title xmp'.split(' '),
)

/** Rewrites the URLs of the links in a page. Everything else stays as it is. Takes linear time for any input. */
export function rewriteHtml(page: string, rewrite: (url: string) => string): string {
  let result = ''
  let copied = 0
  let at = page.indexOf('<')
  while (at >= 0) {
    const name = /[a-zA-Z][^\s/>]*/y
    name.lastIndex = at + 1
    const element = name.exec(page)?.[0].toLowerCase()
    if (element === undefined) {
      at = page.indexOf('<', endOfMarkup(page, at))
      continue
    }
    const attributes = /[\s/]*([^\s/>=][^\s/>=]*)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>][^\s>]*)))?/y
    const known = urlAttributes.get(element)
    let end = name.lastIndex
    for (attributes.lastIndex = end; ; end = attributes.lastIndex) {
      const found = attributes.exec(page)
      if (found === null) break
      const value = found[2] ?? found[3] ?? found[4]
      if (!value || !known?.includes(found[1]!.toLowerCase())) continue
      const start = attributes.lastIndex - value.length - (found[4] === undefined ? 1 : 0)
      result += page.slice(copied, start) + rewrite(value)
      copied = start + value.length
    }
    if (rawElements.has(element)) end = endOfText(page, element, end)
    at = page.indexOf('<', end)
  }
  return result + page.slice(copied)
}

/** Where a comment, a declaration or an end tag ends; the end of the page if it does not. */
function endOfMarkup(page: string, start: number): number {
  if (!/[!/?]/.test(page[start + 1] ?? '')) return start + 1
  const mark = page.startsWith('<!--', start) ? '-->' : '>'
  const end = page.indexOf(mark, start + 2)
  return end < 0 ? page.length : end + mark.length
}

function endOfText(page: string, element: string, start: number): number {
  const close = new RegExp(`</${element}`, 'gi')
  close.lastIndex = start
  return close.exec(page)?.index ?? page.length
}

interface Codec {
  readonly decode: (bytes: Uint8Array, limits: { readonly maxOutputLength: number }) => Promise<Uint8Array>
  readonly encode: (bytes: Uint8Array) => Promise<Uint8Array>
}

// Loaded with the first compressed page.
const zlib = () => process.getBuiltinModule('node:zlib')
const { promisify } = process.getBuiltinModule('node:util')
const codecs = new Map<string, Codec>([
  ['', { decode: async (bytes) => bytes, encode: async (bytes) => bytes }],
  [
    'gzip',
    {
      decode: (bytes, limits) => promisify<Uint8Array, object, Buffer>(zlib().gunzip)(bytes, limits),
      encode: (bytes) => promisify<Uint8Array, Buffer>(zlib().gzip)(bytes),
    },
  ],
  [
    'deflate',
    {
      decode: (bytes, limits) => promisify<Uint8Array, object, Buffer>(zlib().inflateRaw)(bytes, limits),
      encode: (bytes) => promisify<Uint8Array, Buffer>(zlib().deflateRaw)(bytes),
    },
  ],
])

/** Rewrites the links of an HTML response. Other responses, and pages in an unknown encoding, stay as they are. */
export function rewritePage(response: ApiResponse, rewrite: (url: string) => string): ApiResponse {
  const { body } = response
  const type = String(response.headers['content-type'] ?? '')
  const codec = codecs.get(String(response.headers['content-encoding'] ?? ''))
  if (type.split(';', 1)[0]?.trim() !== 'text/html' || codec === undefined || typeof body !== 'function')
    return response
  const { 'content-length': _, ...headers } = response.headers
  return {
    ...response,
    headers,
    body: async (sink) => {
      const page = new PageBuffer(sink)
      await body(page)
      const bytes = page.whole
      if (bytes === undefined || bytes.length === 0) return
      // One character per byte: the rewriting concerns ASCII only, and every other byte is kept.
      const rewritten = await codec
        .decode(bytes, { maxOutputLength: maxPageBytes })
        .then((decoded) => codec.encode(Buffer.from(rewriteHtml(latin1(decoded), rewrite), 'latin1')))
        .catch(() => bytes)
      if (!sink.write(rewritten)) await sink.drained()
    },
  }
}

const latin1 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')

/** Collects a page. Passes it on instead, once it is too large. */
class PageBuffer implements BodySink {
  readonly #sink: BodySink
  #chunks: Uint8Array[] | undefined = []
  #size = 0

  constructor(sink: BodySink) {
    this.#sink = sink
  }

  /** The page, unless it was too large. */
  get whole(): Uint8Array | undefined {
    return this.#chunks && Buffer.concat(this.#chunks)
  }

  write(chunk: Uint8Array): boolean {
    if (this.#chunks === undefined) return this.#sink.write(chunk)
    this.#chunks.push(chunk)
    this.#size += chunk.length
    if (this.#size <= maxPageBytes) return true
    const collected = Buffer.concat(this.#chunks)
    this.#chunks = undefined
    return this.#sink.write(collected)
  }

  async drained(): Promise<void> {
    if (this.#chunks === undefined) await this.#sink.drained()
  }
}
