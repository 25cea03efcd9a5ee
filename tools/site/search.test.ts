import { expect, test } from 'vitest'
import type { Page } from './page.ts'
import { renderPage } from './render-page.ts'
import { search } from './search.ts'
import { indexPages } from './search-index.ts'

const texts: Readonly<Record<string, string>> = {
  'guides/webhooks.md': '# Webhooks\n\nCertificates are renewed.\n\n## Test\n\nUse `defineWebhook`.\n',
  'guides/rbac.md': '# Permissions\n\nRoles are derived from the code.\n',
  'guides/messages.md':
    '# Messages\n\n### failed calling webhook: connection refused\n\nThe API server cannot reach it.\n\n### is forbidden\n\nAdd a rule.\n',
  'zh/start/five-minutes.md': '# 五分钟入门\n\n删除 Deployment。\n',
}
const pages = Object.entries(texts).map(([path, text]) => {
  const language = path.startsWith('zh/') ? 'zh' : 'en'
  const title = /^# (.+)/.exec(text)![1]!
  const page: Page = { path, language, title, description: '', text, offset: 0, fields: {} }
  return { page, rendered: renderPage(page, { docs: '/docs', repository: (file) => file }) }
})
const index = indexPages(pages)
const find = (query: string, language = 'en'): string[] => search(index, query, language).map(({ address }) => address)

test('search() finds beginnings of words and parts of names', () => {
  expect(find('webho')).toContain('guides/webhooks.html')
  expect(find('certif')).toEqual(['guides/webhooks.html'])
  expect(find('webhooks')[0]).toBe('guides/webhooks.html')
  expect(find('defineweb')).toEqual(['guides/webhooks.html#test'])
})

test('search() forgives a typing mistake', () => {
  expect(find('certficates')).toEqual(['guides/webhooks.html'])
})

test('search() requires all words, and finds some of them if no passage has all', () => {
  expect(find('roles derived')).toEqual(['guides/rbac.html'])
  expect(find('roles unknown')).toEqual(['guides/rbac.html'])
  expect(find('unknown')).toEqual([])
})

test('search() finds other forms of a word', () => {
  expect(find('renewing certificate')).toEqual(['guides/webhooks.html'])
  expect(find('permission')[0]).toBe('guides/rbac.html')
})

test('search() finds Chinese words for Chinese readers only', () => {
  expect(find('入门', 'zh')).toEqual(['zh/start/five-minutes.html'])
  expect(find('入门', 'en')).toEqual([])
})

test('search() finds a pasted message that contains names and addresses of the user', () => {
  const message =
    'Internal error occurred: failed calling webhook "v.example.com": dial tcp 10.0.0.7:443: connection refused'
  expect(find(message)[0]).toBe('guides/messages.html#failed-calling-webhook-connection-refused')
  expect(find('homes "cosy" is forbidden: not yours')[0]).toBe('guides/messages.html#is-forbidden')
})
