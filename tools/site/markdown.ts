import MarkdownIt from 'markdown-it'

/** CommonMark with tables and HTML, which GitHub renders in the same way. */
export const markdown = new MarkdownIt({ html: true })
// Checks compare links as they are written.
markdown.normalizeLink = (url) => url

type Token = ReturnType<typeof markdown.parse>[number]

/** The words of inline tokens, without marks and tags. */
export function wordsOfTokens(tokens: readonly Token[] | null): string {
  const words = (tokens ?? []).map(({ type, content, children }) => {
    if (type === 'image') return wordsOfTokens(children)
    if (type === 'softbreak' || type === 'hardbreak') return ' '
    return type === 'html_inline' ? '' : content
  })
  return words.join('').replace(/\s+/g, ' ').trim()
}

/** The words of inline Markdown, on one line. */
export const plain = (text: string): string => wordsOfTokens(markdown.parseInline(text, {})[0]!.children)

/** Escapes text for HTML. */
export const { escapeHtml } = markdown.utils
