// `reference/errors.md`: every error code with its meaning, cause and cure. The page of the site also has the messages of
// each code, which come from the source: the file would be stale after every change of a message.
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { apiErrorCodes } from '@kubewright/api'
import { baseErrorCodes } from '@kubewright/base'
import { celErrorCodes } from '@kubewright/cel'
import { clientErrorCodes } from '@kubewright/client'
import { consoleErrorCodes } from '@kubewright/console'
import { controlplaneErrorCodes } from '@kubewright/controlplane'
import { runtimeErrorCodes } from '@kubewright/runtime'
import { serverErrorCodes } from '@kubewright/server'
import { storageErrorCodes } from '@kubewright/storage'
import { testingErrorCodes } from '@kubewright/testing'
import { cliErrorCodes } from '../../packages/cli/src/error-codes.ts'
import { simulatorErrorCodes } from '../../packages/simulator/src/error-codes.ts'
import { errorMessages } from './error-messages.ts'
import type { Page } from './page.ts'

const tables: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  base: baseErrorCodes,
  cel: celErrorCodes,
  api: apiErrorCodes,
  client: clientErrorCodes,
  runtime: runtimeErrorCodes,
  storage: storageErrorCodes,
  server: serverErrorCodes,
  controlplane: controlplaneErrorCodes,
  console: consoleErrorCodes,
  simulator: simulatorErrorCodes,
  testing: testingErrorCodes,
  cli: cliErrorCodes,
}

/** A longer list of messages is folded. */
const mostMessages = 12

const pagePath = 'reference/errors.md'
const guideOf = (root: string): string => join(root, 'docs', 'guides', 'troubleshooting.md')
const codes = Object.values(tables).flatMap((table) => Object.keys(table))

/** The guide with links to all codes at its end. */
function guideText(root: string): string {
  const [text = ''] = readFileSync(guideOf(root), 'utf8').split(/(?<=<!-- codes: .* -->\n)/)
  const links = codes.toSorted().map((code) => `[\`${code}\`](../${pagePath}#${code.toLowerCase()})`)
  return `${text}\n${links.join(' ·\n')}\n`
}

/** Writes the links of the guide to all codes. */
export function writeCodeLinks(root: string): void {
  writeFileSync(guideOf(root), guideText(root))
}

/** Adds the messages of the source to the page of error codes; leaves other pages as they are. */
export function withErrorMessages(page: Page, root: string): Page {
  if (page.path !== pagePath) return page
  messagesOfSource ??= errorMessages(root)
  const sections = page.text.split(/^(?=##)/m).map((section) => {
    const [text = '', listed = ''] = section.split('\nMessages:\n\n')
    const code = /^### (\S+)/.exec(section)?.[1]
    const found = (code === undefined ? undefined : messagesOfSource?.get(code)) ?? []
    const texts = [...new Set([...found.map((one) => `- ${codeSpan(one)}`), ...listed.trim().split('\n')])]
    const list = texts.filter((one) => one !== '').map((one) => `${one}\n`)
    if (list.length === 0) return section
    const folded = `<details><summary>${list.length} messages</summary>\n\n${list.join('')}\n</details>\n`
    return `${text}\nMessages:\n\n${list.length > mostMessages ? folded : list.join('')}\n`
  })
  return { ...page, text: sections.join('') }
}

/** The messages, which are collected once per process. */
let messagesOfSource: ReturnType<typeof errorMessages> | undefined

/** Code that contains backticks needs longer fences. */
const codeSpan = (text: string): string => (text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``)

/** Reports codes in the text of pages that do not exist, for example after a code was renamed. */
export function checkCodes(pages: readonly Page[]): string[] {
  return pages.flatMap(({ path, text }) => {
    const unknown = new Set(
      [...text.matchAll(/\bKW_[A-Z_]+\b/g)].map(([code]) => code).filter((one) => !codes.includes(one)),
    )
    return [...unknown].map((code) => `docs/${path}: the error code ${code} does not exist`)
  })
}

/** Reports codes without a section that has their meaning, a cause and a cure, and a guide without links to all codes. */
export function checkErrorPage(root: string): string[] {
  const page = readFileSync(join(root, 'docs', pagePath), 'utf8')
  const missing = Object.entries(tables).flatMap(([name, table]) => {
    const part = page.split(/^(?=## )/m).find((one) => one.startsWith(`## @kubewright/${name}\n`)) ?? ''
    return Object.entries(table).flatMap(([code, meaning]) => {
      const start = `### ${code}\n\n${meaning}\n\n**Cause.** `
      const section = part.split(/^(?=### )/m).find((one) => one.startsWith(start))
      if (section?.includes('\n\n**Cure.** ')) return []
      return [`docs/${pagePath}: "@kubewright/${name}" needs ${JSON.stringify(`${start}…\n\n**Cure.** …`)}`]
    })
  })
  const isLinked = readFileSync(guideOf(root), 'utf8') === guideText(root)
  return isLinked ? missing : [...missing, 'docs/guides/troubleshooting.md lacks codes. Run: npm run docs -- generate']
}
