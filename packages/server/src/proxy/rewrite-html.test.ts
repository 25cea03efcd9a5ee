import { gunzipSync, gzipSync } from 'node:zlib'
import type { ApiResponse } from '@kubewright/api'
import { expect, test } from 'vitest'
import { rewriteHtml, rewritePage } from './rewrite-html.ts'

const mark = (url: string): string => `/proxy${url}`

test.each([
  ['<a href="/rewriteme">test</a>', '<a href="/proxy/rewriteme">test</a>'],
  ["<A HREF='/x' class=b>", "<A HREF='/proxy/x' class=b>"],
  ['<img alt="/y" src=/x>', '<img alt="/y" src=/proxy/x>'],
  ['<link rel=icon href = "/i"/><p href="/x">', '<link rel=icon href = "/proxy/i"/><p href="/x">'],
  [
    '<script src="/s">"<a href=\'/x\'>"</script><a href="/b">',
    '<script src="/proxy/s">"<a href=\'/x\'>"</script><a href="/proxy/b">',
  ],
  ['<!-- <a href="/x"> --><a href="/b">', '<!-- <a href="/x"> --><a href="/proxy/b">'],
  ['a < b <a title=">" href="/b">', 'a < b <a title=">" href="/proxy/b">'],
  ['<a href="/x', '<a href="/x'],
  ['<a href>', '<a href>'],
])('rewriteHtml() changes only the links of %s', (page, expected) => {
  expect(rewriteHtml(page, mark)).toBe(expected)
})

async function send(response: ApiResponse): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  if (typeof response.body !== 'function') throw new Error('expected a streamed body')
  await response.body({ write: (chunk) => chunks.push(chunk) > 0, drained: async () => undefined })
  return Buffer.concat(chunks)
}

const page = (chunks: readonly Uint8Array[], headers: Record<string, string>): ApiResponse => ({
  status: 200,
  headers: { 'content-type': 'text/html; charset=utf-8', 'content-length': '1', ...headers },
  body: async (sink) => {
    for (const chunk of chunks) if (!sink.write(chunk)) await sink.drained()
  },
})

test('rewritePage() rewrites a page across its chunks and keeps its other bytes', async () => {
  const response = rewritePage(page([Buffer.from('<p>ü</p><a hr'), Buffer.from('ef="/x">')], {}), mark)
  expect(response.headers).toEqual({ 'content-type': 'text/html; charset=utf-8' })
  expect((await send(response)).toString()).toBe('<p>ü</p><a href="/proxy/x">')
})

test('rewritePage() rewrites compressed pages, and leaves broken ones as they are', async () => {
  const zipped = { 'content-encoding': 'gzip' }
  const response = rewritePage(page([gzipSync('<a href="/x">')], zipped), mark)
  expect(gunzipSync(await send(response)).toString()).toBe('<a href="/proxy/x">')
  const broken = Buffer.from('<a href="/x">')
  expect(await send(rewritePage(page([broken], zipped), mark))).toEqual(broken)
})

test('rewritePage() passes on large pages, unknown encodings and other types', async () => {
  const large = Buffer.from('<a href="/x">'.padEnd(17 * 1024 * 1024))
  expect((await send(rewritePage(page([large, large], {}), mark))).equals(Buffer.concat([large, large]))).toBe(true)
  for (const headers of [{ 'content-encoding': 'br' }, { 'content-type': 'text/plain' }]) {
    const response = page([], headers)
    expect(rewritePage(response, mark)).toBe(response)
  }
})
