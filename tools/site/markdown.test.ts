import { expect, test } from 'vitest'
import { parseBlocks, plain } from './markdown.ts'
import type { Page } from './page.ts'
import { renderPage } from './render-page.ts'

const page = (text: string, path = 'guides/a.md'): Page => ({
  path,
  language: 'en',
  title: '',
  description: '',
  text,
  offset: 0,
  fields: {},
})
const render = (text: string) => renderPage(page(text), { docs: '/docs', repository: (path) => `https://repo/${path}` })

test('renderPage() renders the inline marks of a paragraph', () => {
  expect(render('A `<b>` and **strong *em*** [x](https://e.org) <https://f.org> 1 < 2 snake_case\n').html).toBe(
    '<p>A <code>&lt;b&gt;</code> and <strong>strong <em>em</em></strong> <a href="https://e.org">x</a> <a href="https://f.org">https://f.org</a> 1 &lt; 2 snake_case</p>\n',
  )
})

test('renderPage() gives headings the anchors of GitHub', () => {
  const { headings } = render('## `s.int()` & more\n\n## Same\n\n## Same\n')
  expect(headings.map(({ id }) => id)).toEqual(['sint--more', 'same', 'same-1'])
})

test('renderPage() leads links to pages, anchors and files of the repository', () => {
  const { html, links } = render('[a](b.md#c) [d](../../README.md) [e](#f)\n')
  expect(html).toContain('href="../guides/b.html#c"')
  expect(html).toContain('href="https://repo/README.md"')
  expect(links.map(({ target }) => target)).toEqual(['b.md#c', '../../README.md', '#f'])
})

test('parseBlocks() reads nested lists, and code inside of items', () => {
  const [list] = parseBlocks(['1. one', '   - inner', '   ```sh', '   ls', '   ```', '2. two', '', 'after'], 1)
  expect(list).toMatchObject({ type: 'list', start: 1, isLoose: false })
  expect(list?.type === 'list' && list.items).toMatchObject([
    [{ type: 'paragraph', text: 'one' }, { type: 'list' }, { type: 'code', code: 'ls\n' }],
    [{ type: 'paragraph', text: 'two' }],
  ])
})

test('parseBlocks() splits table rows at unescaped bars', () => {
  expect(parseBlocks(['| a | b |', '|---|---|', '| `x \\| y` | z |'], 1)).toMatchObject([
    {
      type: 'table',
      rows: [
        ['a', 'b'],
        ['`x | y`', 'z'],
      ],
    },
  ])
})

test('plain() keeps the words only', () => {
  expect(plain('A [link](x.md), `code` and\n**more**')).toBe('A link, code and more')
})
