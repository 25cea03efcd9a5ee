import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { checkExcerpts } from './check-excerpts.ts'
import { checkLinks } from './check-links.ts'
import { readNavigation, readPages } from './page.ts'
import { renderPage } from './render-page.ts'
import { checkTranslations, sourceDigests } from './translations.ts'

interface Folder extends Disposable {
  readonly root: string
  readonly docs: string
}

function folderOf(files: Readonly<Record<string, string>>): Folder {
  const root = mkdtempSync(join(tmpdir(), 'kubewright-site-'))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(root, name, '..'), { recursive: true })
    writeFileSync(join(root, name), text)
  }
  return { root, docs: join(root, 'docs'), [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }) }
}

test('checkLinks() reports missing pages, files and anchors with their lines', () => {
  using folder = folderOf({
    'README.md': '',
    'docs/a.md':
      '---\nruns: clone\n---\n# A\n\n[ok](b.md#part) [ok](../README.md)\n\n[x](c.md) [y](b.md#gone) [z](../gone.ts)\n',
    'docs/b.md': '# B\n\n## Part\n',
  })
  const pages = readPages(folder.docs)
  const places = { docs: folder.docs, repository: (path: string) => path }
  const rendered = new Map(pages.map((page) => [page.path, { page, rendered: renderPage(page, places) }]))
  expect(checkLinks(folder.docs, rendered)).toEqual([
    'docs/a.md:8: the link target c.md does not exist',
    'docs/a.md:8: b.md#gone has no such anchor',
    'docs/a.md:8: the link target ../gone.ts does not exist',
  ])
})

test('checkExcerpts() reports code that the example no longer contains', () => {
  using folder = folderOf({
    'examples/a.ts': 'const a = 1\nconst b = 2\nconst c = 3\n',
    'docs/a.md':
      '```ts excerpt\n// examples/a.ts\nconst a = 1\n// ...\nconst c = 3\n```\n\n```ts excerpt\n// examples/a.ts\nconst d = 4\n```\n',
  })
  expect(checkExcerpts(folder.root, readPages(folder.docs))).toEqual([
    'docs/a.md:8: examples/a.ts no longer contains: const d = 4',
  ])
})

test('checkTranslations() names the section whose English text has changed', () => {
  const english = '# A\n\nText.\n\n## B\n\nMore.\n\n```sh\nls # list\n```\n'
  using folder = folderOf({ 'docs/a.md': english })
  const digests = sourceDigests(readPages(folder.docs)[0]!)
  const translation = `---\nsource: ${digests}\n---\n# Ä\n\nТекст.\n\n## Б\n\nЕщё.\n\n\`\`\`sh\nls # список\n\`\`\`\n`
  using current = folderOf({ 'docs/a.md': english, 'docs/ru/a.md': translation })
  expect(checkTranslations(readPages(current.docs))).toEqual([])

  using changed = folderOf({ 'docs/a.md': english.replace('More', 'Less'), 'docs/ru/a.md': translation })
  expect(checkTranslations(readPages(changed.docs))).toEqual([
    expect.stringContaining('the English text of "B" has changed'),
  ])

  using other = folderOf({ 'docs/a.md': english, 'docs/ru/a.md': translation.replace('ls', 'rm') })
  expect(checkTranslations(readPages(other.docs))).toEqual(['docs/ru/a.md has other code blocks than the English page'])
})

test('readNavigation() appends the other pages of a folder', () => {
  using folder = folderOf({
    'docs/navigation.json': '[{ "title": "G", "pages": ["g/b.md"], "folder": "g" }]',
    'docs/g/a.md': '# A\n',
    'docs/g/b.md': '# B\n',
  })
  expect(readNavigation(folder.docs, 'en', readPages(folder.docs))).toMatchObject([{ pages: ['g/b.md', 'g/a.md'] }])
})
