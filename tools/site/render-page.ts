import { existsSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import MarkdownIt from 'markdown-it'
import { highlight } from './code.ts'
import type { PageHints } from './hints.ts'
import { escapeHtml, markdown, wordsOfTokens } from './markdown.ts'
import { addressOf, type Page, relativeTo } from './page.ts'

/** A heading of a page. */
export interface Heading {
  readonly level: number
  readonly id: string
  readonly text: string
}

/** A page as HTML, and the parts that checks and search need. */
export interface Rendered {
  readonly html: string
  /** Whether the page has names whose types can be shown. */
  readonly hasHints: boolean
  readonly headings: readonly Heading[]
  /** All anchors: those of headings and of HTML elements. */
  readonly anchors: ReadonlySet<string>
  /** The links, as written. */
  readonly links: readonly { readonly target: string; readonly line: number }[]
  /** The text below each heading, for the search. */
  readonly passages: readonly { readonly heading: Heading | undefined; readonly text: string }[]
}

/** Where links of a page lead. */
export interface Places {
  /** Folder of the pages. */
  readonly docs: string
  /** Address of a file of the repository that is not part of the site. */
  readonly repository: (path: string) => string
}

const labels: Record<string, string> = {
  'sh background': 'In a terminal of its own',
  'sh fails': 'This command fails',
}

/** Renders a page. Links to other pages become links to their HTML files; links out of `docs` lead to the repository. */
export function renderPage(page: Page, { docs, repository }: Places, hints?: PageHints): Rendered {
  const headings: Heading[] = []
  const anchors = new Set<string>()
  const links: { target: string; line: number }[] = []
  const passages: { heading: Heading | undefined; text: string }[] = [{ heading: undefined, text: '' }]
  const slugs = new Map<string, number>()
  let line = 0
  let lastLanguage = ''

  /** Records a link, and returns where it leads in the site. */
  function follow(target: string): string {
    links.push({ target, line })
    if (/^(?:[a-z]+:|#)/.test(target)) return target
    const [path = '', fragment] = target.split('#')
    const resolved = posix.normalize(posix.join(posix.dirname(page.path), path))
    const anchor = fragment === undefined ? '' : `#${fragment}`
    if (resolved.startsWith('../')) return repository(resolved.slice(3)) + anchor
    if (path.endsWith('.md')) return relativeTo(addressOf(page.path), addressOf(resolved)) + anchor
    return target
  }

  /** The anchor that GitHub gives to a heading. */
  function slugOf(text: string): string {
    const slug = text
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
      .replaceAll(' ', '-')
    const count = slugs.get(slug) ?? 0
    slugs.set(slug, count + 1)
    return count === 0 ? slug : `${slug}-${count}`
  }

  function html(text: string): string {
    for (const [, id] of text.matchAll(/\bid="([^"]+)"/g)) anchors.add(id!)
    return text.replace(
      /\b(href|src)="([^"]+)"/g,
      (_, name: string, target: string) => `${name}="${escapeHtml(follow(target))}"`,
    )
  }

  /** Links the names of types in code to their sections. */
  function linked(code: string): string {
    const { names } = page
    if (names === undefined) return code
    const heading = passages.at(-1)!.heading?.text
    return code.replace(/<[^>]*>|&\w+;|(?<![.\w$])[A-Z][\w$]+/g, (word) => {
      const target = names.get(word)
      if (target === undefined || word === heading) return word
      return `<a href="${relativeTo(addressOf(page.path), target.replace('.md#', '.html#'))}">${word}</a>`
    })
  }

  function image(target: string, description: string): string {
    const address = follow(target)
    const file = join(docs, posix.dirname(page.path), target)
    if (!isDiagram(target) || !existsSync(file)) {
      return `<img src="${escapeHtml(address)}" alt="${escapeHtml(description)}" loading="lazy">`
    }
    // A diagram becomes part of the page, so that it follows the theme of the page.
    const opening = `<svg class="diagram" role="img" aria-label="${escapeHtml(description)}"`
    return readFileSync(file, 'utf8')
      .replace(/<style>[\s\S]*?<\/style>\n?/, '')
      .replace('<svg', opening)
  }

  const renderer = new MarkdownIt({ html: true }).renderer
  const { rules } = renderer
  rules.heading_open = (tokens, at) => {
    const level = Number(tokens[at]!.tag.slice(1))
    const text = wordsOfTokens(tokens[at + 1]!.children)
    const heading = { level, id: slugOf(text), text }
    headings.push(heading)
    anchors.add(heading.id)
    if (level > 1) passages.push({ heading, text: '' })
    return `<h${level} id="${heading.id}">`
  }
  rules.heading_close = (tokens, at) => {
    const { level, id, text } = headings.at(-1)!
    const anchor =
      level === 1 ? '' : ` <a class="anchor" href="#${id}" aria-label="Link to “${escapeHtml(text)}”">#</a>`
    return `${anchor}</${tokens[at]!.tag}>\n`
  }
  rules.fence = (tokens, at) => {
    const { info, content, map } = tokens[at]!
    const language = info.split(' ')[0]!
    const isOutput = language === 'text' && lastLanguage === 'sh'
    lastLanguage = language
    const [named, name] = /^(?:\/\/|#) (\S+\.(?:ts|yaml|json))\n/.exec(content) ?? ['']
    const title = name ?? labels[info.trim()] ?? (isOutput ? 'Output' : undefined)
    const caption = title === undefined ? '' : `<figcaption>${escapeHtml(title)}</figcaption>`
    const ids = (hints?.blocks[map![0]] ?? [])
      .filter(([start]) => start >= named.length)
      .map(([start, end, id]) => ({ start: start - named.length, end: end - named.length, id }))
    const code = linked(highlight(content.slice(named.length), language, ids))
    return `<figure class="code${isOutput ? ' output' : ''}">${caption}${code}</figure>\n`
  }
  rules.code_inline = (tokens, at) => `<code>${linked(escapeHtml(tokens[at]!.content))}</code>`
  rules.html_block = (tokens, at) => html(tokens[at]!.content)
  rules.html_inline = (tokens, at) => html(tokens[at]!.content)
  rules.image = (tokens, at) => image(addressIn(tokens[at]!, 'src'), wordsOfTokens(tokens[at]!.children))
  rules.link_open = (tokens, at) => `<a href="${escapeHtml(follow(addressIn(tokens[at]!, 'href')))}">`
  rules.softbreak = () => {
    line++
    return '\n'
  }
  rules.table_open = () => '<div class="wide" tabindex="0" role="group" aria-label="Table"><table>'
  rules.table_close = () => '</table></div>\n'

  const tokens = markdown.parse(page.text, {})
  for (const [at, token] of tokens.entries()) {
    const [next, close] = [tokens[at + 1], tokens[at + 2]]
    // A header without text is not a header for screen readers.
    if (token.type === 'th_open' && next!.content === '') token.tag = close!.tag = 'td'
    const only = token.type === 'paragraph_open' && next!.children?.length === 1 ? next!.children[0] : undefined
    if (only?.type === 'image' && isDiagram(addressIn(only, 'src'))) {
      token.tag = close!.tag = 'div'
      token.attrs = Object.entries({ class: 'wide', tabindex: '0', role: 'group', 'aria-label': 'Diagram' })
    }
    if (token.type === 'blockquote_open') markNote(token, tokens[at + 2])
  }
  // Tokens are rendered one by one: rules need the line of the block.
  const renderToken = renderer.renderToken.bind(renderer)
  const body = tokens.map((token, at) => {
    if (token.map) line = page.offset + 1 + token.map[0]
    if (token.type === 'inline') {
      if (tokens[at - 1]!.type !== 'heading_open') passages.at(-1)!.text += `${wordsOfTokens(token.children)} `
      return renderer.renderInline(token.children!, markdown.options, {})
    }
    const rule = rules[token.type]
    return rule ? rule(tokens, at, markdown.options, {}, renderer) : renderToken(tokens, at, markdown.options)
  })
  return { html: body.join(''), hasHints: hints !== undefined, headings, anchors, links, passages }
}

const isDiagram = (target: string): boolean => /\/diagrams\/[^/]+\.svg$/.test(target)

type Token = ReturnType<typeof markdown.parse>[number]

const addressIn = (token: Token, name: string): string => String(token.attrGet(name))

/** A quote that starts with `[!NOTE]`, `[!TIP]` or `[!WARNING]` is a note, as on GitHub. */
function markNote(quote: Token, inline: Token | undefined): void {
  const first = inline?.children?.[0]
  const kind = /^\[!(NOTE|TIP|WARNING)\]$/.exec(first?.content ?? '')?.[1]
  if (first === undefined || kind === undefined) return
  quote.attrSet('class', `note ${kind.toLowerCase()}`)
  first.type = 'html_inline'
  first.content = `<strong>${kind.slice(0, 1)}${kind.slice(1).toLowerCase()}.</strong>`
}
