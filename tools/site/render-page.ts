import { existsSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { escapeHtml, highlight } from './highlight.ts'
import { type Block, type InlineHandler, parseBlocks, plain, transformInline } from './markdown.ts'
import { addressOf, type Page, relativeTo } from './page.ts'

/** A heading of a page. */
export interface Heading {
  readonly level: number
  readonly id: string
  readonly text: string
}

/** A link of a page, as written. */
export interface Link {
  readonly target: string
  readonly line: number
}

/** Text of a page below one heading, for the search. */
export interface Passage {
  readonly heading: Heading | undefined
  readonly text: string
}

/** A page as HTML, and the parts that checks and search need. */
export interface Rendered {
  readonly html: string
  readonly headings: readonly Heading[]
  /** All anchors: those of headings and of HTML elements. */
  readonly anchors: ReadonlySet<string>
  readonly links: readonly Link[]
  readonly passages: readonly Passage[]
}

/** Where links of a page lead. */
export interface Places {
  /** Folder of the pages. */
  readonly docs: string
  /** Address of a file of the repository that is not part of the site. */
  readonly repository: (path: string) => string
}

/** Renders a page. Links to other pages become links to their HTML files; links out of `docs` lead to the repository. */
export function renderPage(page: Page, places: Places): Rendered {
  const renderer = new PageRenderer(page, places)
  const html = renderer.blocks(parseBlocks(page.text.split('\n'), page.offset + 1))
  return { html, ...renderer }
}

const labels: Record<string, string> = {
  'sh background': 'In a terminal of its own',
  'sh fails': 'This command fails',
}

class PageRenderer {
  readonly headings: Heading[] = []
  readonly anchors = new Set<string>()
  readonly links: Link[] = []
  readonly passages: { heading: Heading | undefined; text: string }[] = [{ heading: undefined, text: '' }]
  readonly #page: Page
  readonly #places: Places
  readonly #slugs = new Map<string, number>()
  #line = 0
  #lastInfo = ''

  constructor(page: Page, places: Places) {
    this.#page = page
    this.#places = places
  }

  blocks(blocks: readonly Block[], isTight = false): string {
    return blocks.map((block) => this.#block(block, isTight)).join('')
  }

  #block(block: Block, isTight: boolean): string {
    this.#line = block.line
    switch (block.type) {
      case 'heading':
        return this.#heading(block.level, block.text)
      case 'paragraph':
        this.#remember(block.text)
        if (/^!\[[^\]]*\]\([^)]*\/diagrams\/[^)]*\)$/.test(block.text)) {
          return `<div class="wide" tabindex="0" role="group" aria-label="Diagram">${this.#inline(block.text)}</div>\n`
        }
        return isTight ? this.#inline(block.text) : `<p>${this.#inline(block.text)}</p>\n`
      case 'code':
        return this.#code(block.info, block.code)
      case 'rule':
        return '<hr>\n'
      case 'html':
        return this.#html(block.text)
      case 'quote':
        return note(`<blockquote>${this.blocks(block.blocks)}</blockquote>\n`)
      case 'table':
        return this.#table(block.rows)
      case 'list': {
        const tag = block.start === undefined ? 'ul' : 'ol'
        const start = (block.start ?? 1) === 1 ? '' : ` start="${block.start}"`
        const items = block.items.map((item) => `<li>${this.blocks(item, !block.isLoose)}</li>\n`)
        return `<${tag}${start}>\n${items.join('')}</${tag}>\n`
      }
    }
  }

  #heading(level: number, source: string): string {
    const text = plain(source)
    const id = this.#slug(text)
    const heading = { level, id, text }
    this.headings.push(heading)
    this.anchors.add(id)
    if (level > 1) this.passages.push({ heading, text: '' })
    const anchor =
      level === 1 ? '' : ` <a class="anchor" href="#${id}" aria-label="Link to “${escapeHtml(text)}”">#</a>`
    return `<h${level} id="${id}">${this.#inline(source)}${anchor}</h${level}>\n`
  }

  /** The anchor that GitHub gives to a heading. */
  #slug(text: string): string {
    const slug = text
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\p{M}_ -]/gu, '')
      .replaceAll(' ', '-')
    const count = this.#slugs.get(slug) ?? 0
    this.#slugs.set(slug, count + 1)
    return count === 0 ? slug : `${slug}-${count}`
  }

  #code(info: string, content: string): string {
    const language = info.split(' ')[0] ?? ''
    const isOutput = language === 'text' && this.#lastInfo === 'sh'
    this.#lastInfo = language
    const named = /^(?:\/\/|#) (\S+\.(?:ts|yaml|json))\n/.exec(content)
    const title = named?.[1] ?? labels[info] ?? (isOutput ? 'Output' : undefined)
    const code = named ? content.slice(named[0].length) : content
    const caption = title === undefined ? '' : `<figcaption>${escapeHtml(title)}</figcaption>`
    const kind = isOutput ? ' output' : ''
    return `<figure class="code${kind}">${caption}<pre tabindex="0"><code>${this.#linked(highlight(code, language))}</code></pre></figure>\n`
  }

  /** Links the names of types in code to their sections. */
  #linked(html: string): string {
    const { names } = this.#page
    if (names === undefined) return html
    const heading = this.passages.at(-1)!.heading?.text
    return html.replace(/<[^>]*>|&\w+;|(?<![.\w$])[A-Z][\w$]+/g, (word) => {
      const target = names.get(word)
      if (target === undefined || word === heading) return word
      return `<a href="${relativeTo(addressOf(this.#page.path), target.replace('.md#', '.html#'))}">${word}</a>`
    })
  }

  #html(text: string): string {
    for (const [, id] of text.matchAll(/\bid="([^"]+)"/g)) this.anchors.add(id!)
    return text.replace(/\b(href|src)="([^"]+)"/g, (_, name: string, target: string) => {
      this.links.push({ target, line: this.#line })
      return `${name}="${escapeHtml(this.#resolve(target))}"`
    })
  }

  #table(rows: readonly (readonly string[])[]): string {
    // A header without text is not a header for screen readers.
    const cells = (row: readonly string[], tag: string): string =>
      row
        .map((cell) => {
          const name = cell === '' ? 'td' : tag
          this.#remember(cell)
          return `<${name}>${this.#inline(cell)}</${name}>`
        })
        .join('')
    const [head = [], ...body] = rows
    const lines = body.map((row) => {
      this.#line++
      return `<tr>${cells(row, 'td')}</tr>\n`
    })
    return `<div class="wide" tabindex="0" role="group" aria-label="Table"><table><thead><tr>${cells(head, 'th')}</tr></thead><tbody>${lines.join('')}</tbody></table></div>\n`
  }

  #remember(text: string): void {
    this.passages.at(-1)!.text += `${plain(text)} `
  }

  #inline(text: string): string {
    const handler: InlineHandler = {
      text: escapeHtml,
      code: (value) => `<code>${this.#linked(escapeHtml(value))}</code>`,
      link: (target, content) => {
        this.links.push({ target, line: this.#line })
        return `<a href="${escapeHtml(this.#resolve(target))}">${content}</a>`
      },
      image: (target, description) => {
        this.links.push({ target, line: this.#line })
        return this.#image(target, description)
      },
      strong: (content) => `<strong>${content}</strong>`,
      emphasis: (content) => `<em>${content}</em>`,
      html: (tag) => tag,
      lineBreak: () => '<br>\n',
    }
    return transformInline(text, handler)
  }

  #image(target: string, description: string): string {
    const file = join(this.#places.docs, posix.dirname(this.#page.path), target)
    if (/\/diagrams\/[^/]+\.svg$/.test(target) && existsSync(file)) {
      return inlineDiagram(readFileSync(file, 'utf8'), description)
    }
    return `<img src="${escapeHtml(this.#resolve(target))}" alt="${escapeHtml(description)}" loading="lazy">`
  }

  #resolve(target: string): string {
    if (/^(?:[a-z]+:|#)/.test(target)) return target
    const [path = '', fragment] = target.split('#')
    const resolved = posix.normalize(posix.join(posix.dirname(this.#page.path), path))
    const anchor = fragment === undefined ? '' : `#${fragment}`
    if (resolved.startsWith('../')) return this.#places.repository(resolved.slice(3)) + anchor
    if (path.endsWith('.md')) return relativeTo(addressOf(this.#page.path), addressOf(resolved)) + anchor
    return target
  }
}

/** A diagram becomes part of the page, so that it follows the theme of the page. */
function inlineDiagram(svg: string, description: string): string {
  const opening = `<svg class="diagram" role="img" aria-label="${escapeHtml(description)}"`
  return svg.replace(/<style>[\s\S]*?<\/style>\n?/, '').replace('<svg', opening)
}

/** A quote that starts with `[!NOTE]`, `[!TIP]` or `[!WARNING]` is a note, as on GitHub. */
function note(html: string): string {
  return html.replace(/^<blockquote><p>\[!(NOTE|TIP|WARNING)\]\s*/, (_, kind: string) => {
    const word = kind.slice(0, 1) + kind.slice(1).toLowerCase()
    return `<blockquote class="note ${kind.toLowerCase()}"><p><strong>${word}.</strong> `
  })
}
