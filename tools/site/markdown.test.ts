import { expect, test } from 'vitest'
import { plain } from './markdown.ts'
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

test('renderPage() marks notes, and header cells without text as plain cells', () => {
  expect(render('> [!WARNING]\n> Hot.\n').html).toBe(
    '<blockquote class="note warning">\n<p><strong>Warning.</strong>\nHot.</p>\n</blockquote>\n',
  )
  expect(render('| | a |\n|---|---|\n| b | c |\n').html).toContain('<tr>\n<td></td>\n<th>a</th>\n</tr>')
})

test('renderPage() shows the file of a code block as its caption, and classes for tokens', () => {
  expect(render('```ts\n// src/a.ts\nconst a = 1\n```\n').html).toBe(
    '<figure class="code"><figcaption>src/a.ts</figcaption><pre tabindex="0"><code><span class="t-keyword">const</span> a =<span class="t-literal"> 1</span>\n</code></pre></figure>\n',
  )
})

test('renderPage() collects the text below each heading', () => {
  const { passages } = render('# T\n\nOne *two*.\n\n## H\n\n- `three`\n')
  expect(passages.map(({ heading, text }) => [heading?.text, text])).toEqual([
    [undefined, 'One two. '],
    ['H', 'three '],
  ])
})

test('plain() keeps the words only', () => {
  expect(plain('A [link](x.md), `code` and\n**more**')).toBe('A link, code and more')
})
