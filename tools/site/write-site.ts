import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Site } from './build-site.ts'

/** Replaces a folder with the files of a site. */
export function writeSite(site: Site, folder: string): void {
  rmSync(folder, { recursive: true, force: true })
  for (const [name, content] of site.files) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), content)
  }
}

/**
 * Writes the site of a version into a folder of its own, and renews the files that all versions share: `versions.js` has
 * the pages of each version, and `index.html` leads to the newest.
 */
export function writeVersion(site: Site, folder: string, version: string): void {
  if (!/^\d+(\.\d+)*$/.test(version)) throw new Error(`"${version}" is not a version such as 0.1`)
  writeSite(site, join(folder, version))
  const versions = readdirSync(folder)
    .filter((name) => /^\d+(\.\d+)*$/.test(name))
    .sort((a, b) => b.localeCompare(a, 'en', { numeric: true }))
  const pages = versions.map((name) => [name, pagesIn(join(folder, name))] as const)
  writeFileSync(
    join(folder, 'versions.js'),
    `globalThis.kubewrightVersions=${JSON.stringify(Object.fromEntries(pages))}\n`,
  )
  const start = `${versions[0]}/index.html`
  writeFileSync(
    join(folder, 'index.html'),
    `<!doctype html><html lang="en"><meta charset="utf-8"><title>Kubewright</title><meta http-equiv="refresh" content="0; url=${start}"><a href="${start}">Kubewright ${versions[0]}</a></html>\n`,
  )
}

const pagesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map((name) => name.replaceAll('\\', '/'))
    .filter((name) => name.endsWith('.html'))
    .sort()
