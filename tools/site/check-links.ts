import { existsSync } from 'node:fs'
import { join, posix } from 'node:path'
import type { Page } from './page.ts'
import type { Rendered } from './render-page.ts'

/** Checks every link and anchor of the pages. Returns one line per problem. Addresses on the web are not requested. */
export function checkLinks(docs: string, pages: ReadonlyMap<string, { page: Page; rendered: Rendered }>): string[] {
  const problems: string[] = []
  for (const { page, rendered } of pages.values()) {
    for (const { target, line } of rendered.links) {
      const problem = problemOf(docs, page.path, target, pages)
      if (problem !== undefined) problems.push(`docs/${page.path}:${line}: ${problem}`)
    }
  }
  return problems
}

function problemOf(
  docs: string,
  from: string,
  target: string,
  pages: ReadonlyMap<string, { rendered: Rendered }>,
): string | undefined {
  if (/^https?:/.test(target) || target.startsWith('mailto:')) return undefined
  const [path = '', fragment] = target.split('#')
  const resolved = path === '' ? from : posix.normalize(posix.join(posix.dirname(from), path))
  const found = pages.get(resolved)
  if (found === undefined) {
    if (!existsSync(join(docs, resolved))) return `the link target ${target} does not exist`
    if (resolved.endsWith('.md') && !resolved.startsWith('../')) return `${target} is not a page of the site`
    return undefined
  }
  if (fragment === undefined) return undefined
  const id = decodeURIComponent(fragment)
  return found.rendered.anchors.has(id) ? undefined : `${target} has no such anchor`
}
