// The part of Markdown that the pages use, as GitHub renders it: headings, paragraphs, lists, tables, fences, quotes,
// HTML blocks; in a line code, links, images, emphasis, addresses and HTML tags. Reference links, indented code and
// underlined headings are not supported.

/** A block of a page. */
export type Block =
  | { readonly type: 'heading'; readonly line: number; readonly level: number; readonly text: string }
  | { readonly type: 'paragraph'; readonly line: number; readonly text: string }
  | { readonly type: 'code'; readonly line: number; readonly info: string; readonly code: string }
  | { readonly type: 'html'; readonly line: number; readonly text: string }
  | { readonly type: 'rule'; readonly line: number }
  | { readonly type: 'quote'; readonly line: number; readonly blocks: readonly Block[] }
  | { readonly type: 'table'; readonly line: number; readonly rows: readonly (readonly string[])[] }
  | {
      readonly type: 'list'
      readonly line: number
      readonly start: number | undefined
      /** Whether blank lines separate the items, which then contain paragraphs. */
      readonly isLoose: boolean
      readonly items: readonly (readonly Block[])[]
    }

const item = /^( *)([-*]|\d+\.)( +)(?=\S)/

/** Splits a text into blocks. `first` is the number of its first line. */
export function parseBlocks(lines: readonly string[], first: number): Block[] {
  const blocks: Block[] = []
  let at = 0
  while (at < lines.length) {
    const text = lines[at]!
    const line = first + at
    const fence = /^ {0,3}(`{3,})(.*)$/.exec(text)
    const heading = /^(#{1,6}) +(.+?)(?: +#+)?$/.exec(text)
    if (text.trim() === '') at++
    else if (fence) {
      const indent = text.length - text.trimStart().length
      let end = at + 1
      while (end < lines.length && lines[end]!.trim() !== fence[1]) end++
      const code = lines.slice(at + 1, end).map((one) => one.slice(Math.min(indent, leading(one))))
      blocks.push({ type: 'code', line, info: fence[2]!.trim(), code: code.map((one) => `${one}\n`).join('') })
      at = end + 1
    } else if (heading) {
      blocks.push({ type: 'heading', line, level: heading[1]!.length, text: heading[2]! })
      at++
    } else if (/^ {0,3}(?:-{3,}|\*{3,})$/.test(text)) {
      blocks.push({ type: 'rule', line })
      at++
    } else if (text.startsWith('>')) {
      const quoted = lines.slice(
        at,
        endOf(lines, at, (one) => one.startsWith('>')),
      )
      blocks.push({
        type: 'quote',
        line,
        blocks: parseBlocks(
          quoted.map((one) => one.replace(/^> ?/, '')),
          line,
        ),
      })
      at += quoted.length
    } else if (/^\|/.test(text) && /^\|[\s:|-]+$/.test(lines[at + 1] ?? '')) {
      const rows = lines.slice(
        at,
        endOf(lines, at, (one) => one.startsWith('|')),
      )
      blocks.push({ type: 'table', line, rows: rows.filter((_, i) => i !== 1).map(cellsOf) })
      at += rows.length
    } else if (item.test(text)) {
      const { block, length } = parseList(lines.slice(at), line)
      blocks.push(block)
      at += length
    } else if (/^<(?:\/?[a-zA-Z]|!--)/.test(text)) {
      const html = lines.slice(
        at,
        endOf(lines, at, (one) => one.trim() !== ''),
      )
      blocks.push({ type: 'html', line, text: `${html.join('\n')}\n` })
      at += html.length
    } else {
      const isOn = (one: string): boolean =>
        one.trim() !== '' && !/^(?:#{1,6} |> ?| {0,3}```)/.test(one) && !(item.test(one) && leading(one) === 0)
      const paragraph = lines.slice(at, Math.max(at + 1, endOf(lines, at + 1, isOn)))
      blocks.push({ type: 'paragraph', line, text: paragraph.map((one) => one.trimStart()).join('\n') })
      at += paragraph.length
    }
  }
  return blocks
}

function parseList(lines: readonly string[], line: number): { block: Block; length: number } {
  const [, indent = '', mark = ''] = item.exec(lines[0]!)!
  const isOrdered = mark !== '-' && mark !== '*'
  const items: Block[][] = []
  let isLoose = false
  let at = 0
  while (at < lines.length) {
    const match = item.exec(lines[at]!)
    if (!match || match[1]!.length !== indent.length || /\d/.test(match[2]!) !== isOrdered) break
    const width = match[0].length
    let end = at + 1
    while (end < lines.length) {
      const one = lines[end]!
      if (one.trim() === '') {
        // A blank line ends the item unless an indented line follows.
        const next = lines.slice(end).find((later) => later.trim() !== '')
        if (next === undefined || leading(next) < width) break
      } else if (
        leading(one) < width &&
        (item.test(one) || lines[end - 1]!.trim() === '' || /^(?:#|\||```|>)/.test(one))
      ) {
        break
      }
      end++
    }
    const body = lines
      .slice(at, end)
      .map((one, i) => (i === 0 ? one.slice(width) : one.slice(Math.min(width, leading(one)))))
    const blocks = parseBlocks(body, line + at)
    items.push(blocks)
    let next = end
    while (next < lines.length && lines[next]!.trim() === '') next++
    const more = next < lines.length ? item.exec(lines[next]!) : null
    if (body.some((one, i) => one.trim() === '' && i < body.length - 1 && !isInFence(body, i))) isLoose = true
    if (!more || more[1]!.length !== indent.length) {
      at = end
      break
    }
    if (next > end) isLoose = true
    at = next
  }
  const start = isOrdered ? Number.parseInt(mark, 10) : undefined
  return { block: { type: 'list', line, start, isLoose, items }, length: at }
}

const isInFence = (lines: readonly string[], at: number): boolean =>
  lines.slice(0, at).filter((one) => /^ *```/.test(one)).length % 2 === 1
const leading = (text: string): number => text.length - text.trimStart().length

function endOf(lines: readonly string[], at: number, isOn: (line: string) => boolean): number {
  let end = at
  while (end < lines.length && isOn(lines[end]!)) end++
  return end
}

function cellsOf(row: string): string[] {
  const inner = row.trim().replace(/^\||(?<!\\)\|$/g, '')
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'))
}

/** How the parts of a line become text. */
export interface InlineHandler {
  text(value: string): string
  code(value: string): string
  link(target: string, content: string): string
  image(target: string, description: string): string
  strong(content: string): string
  emphasis(content: string): string
  html(tag: string): string
  lineBreak(): string
}

const inlinePattern = new RegExp(
  [
    /(?<ticks>`+)(?<code>[\s\S]*?[^`])\k<ticks>(?!`)/,
    /!\[(?<alt>[^\]]*)\]\((?<source>[^)\s]+)\)/,
    /\[(?<label>(?:`[^`]*`|!\[[^\]]*\]\([^)]*\)|\[[^\]]*\]|[^\]])*)\]\((?<target>[^()\s]*(?:\([^()\s]*\)[^()\s]*)*)\)/,
    /\*\*(?<strong>(?:`[^`]*`|[^*]|\*(?!\*)|\*(?=\*\*(?!\*)))+)\*\*/,
    /(?<![\w*])\*(?<emphasis>(?:`[^`]*`|[^*\s])(?:`[^`]*`|[^*])*)\*(?![\w*])/,
    /(?<!\w)_(?<underlined>[^_\s](?:[^_]*[^_\s])?)_(?!\w)/,
    /<(?<address>https?:[^>\s]+)>/,
    /(?<tag><\/?[a-zA-Z][^<>]*>)/,
    /\\(?<escaped>[!-/:-@[-`{-~])/,
    /(?<entity>&(?:#\d+|\w+);)/,
    /(?<break>(?: {2,}|\\)\n)/,
  ]
    .map(({ source }) => source)
    .join('|'),
  'g',
)

/** Transforms the inline Markdown of a block. */
export function transformInline(text: string, handler: InlineHandler): string {
  let out = ''
  let end = 0
  for (const match of text.matchAll(inlinePattern)) {
    const group = match.groups!
    const nested = (inner: string): string => transformInline(inner, handler)
    out += handler.text(text.slice(end, match.index))
    end = match.index + match[0].length
    if (group['code'] !== undefined) {
      const code = group['code'].replaceAll('\n', ' ')
      out += handler.code(/^ .*[^ ].* $/.test(code) ? code.slice(1, -1) : code)
    } else if (group['source'] !== undefined) out += handler.image(group['source'], group['alt'] ?? '')
    else if (group['target'] !== undefined) out += handler.link(group['target'], nested(group['label'] ?? ''))
    else if (group['strong'] !== undefined) out += handler.strong(nested(group['strong']))
    else if (group['emphasis'] !== undefined) out += handler.emphasis(nested(group['emphasis']))
    else if (group['underlined'] !== undefined) out += handler.emphasis(nested(group['underlined']))
    else if (group['address'] !== undefined) out += handler.link(group['address'], handler.text(group['address']))
    else if (group['escaped'] !== undefined) out += handler.text(group['escaped'])
    else if (group['break'] !== undefined) out += handler.lineBreak()
    else out += handler.html(match[0])
  }
  return out + handler.text(text.slice(end))
}

const plainHandler: InlineHandler = {
  text: (value) => value,
  code: (value) => value,
  link: (_, content) => content,
  image: (_, description) => description,
  strong: (content) => content,
  emphasis: (content) => content,
  html: () => '',
  lineBreak: () => ' ',
}

/** The words of inline Markdown, on one line. */
export const plain = (text: string): string => transformInline(text, plainHandler).replace(/\s+/g, ' ').trim()
