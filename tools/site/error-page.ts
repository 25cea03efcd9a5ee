// `reference/errors.md`: every error code with its meaning, cause and cure. The page of the site also has the messages of
// each code, which come from the source: the file would be stale after every change of a message.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { apiErrorCodes } from '@kubewright/api'
import { baseErrorCodes } from '@kubewright/base'
import { clientErrorCodes } from '@kubewright/client'
import { consoleErrorCodes } from '@kubewright/console'
import { controlplaneErrorCodes } from '@kubewright/controlplane'
import { runtimeErrorCodes } from '@kubewright/runtime'
import { storageErrorCodes } from '@kubewright/storage'
import { testingErrorCodes } from '@kubewright/testing'
import { simulatorErrorCodes } from '../../packages/simulator/src/error-codes.ts'
import { errorCures } from './error-cures.ts'
import { errorMessages } from './error-messages.ts'
import type { Page } from './page.ts'

const tables: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  base: baseErrorCodes,
  api: apiErrorCodes,
  client: clientErrorCodes,
  runtime: runtimeErrorCodes,
  storage: storageErrorCodes,
  controlplane: controlplaneErrorCodes,
  console: consoleErrorCodes,
  simulator: simulatorErrorCodes,
  testing: testingErrorCodes,
}

/** A longer list of messages is folded. */
const mostMessages = 12

function errorPage(messages: ReadonlyMap<string, readonly string[]>): string {
  const sections = Object.entries(tables).map(([name, codes]) => {
    const parts = Object.entries(codes)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([code, meaning]) => codeSection(code, meaning, messages.get(code) ?? []))
    return `## @kubewright/${name}\n\n${parts.join('\n')}`
  })
  return `# Error codes

<!-- Derived from the error tables of the packages and from tools/site/error-cures.ts; do not edit. \`npm run docs -- generate\` rewrites it. -->

Every error that Kubewright itself defines is a \`KubewrightError\` with a \`code\`. Codes are stable; messages may improve. An error response of an API server is an \`ApiError\` (code
\`KW_API\`) with the Status of the server: distinguish these by their reason, with the guards (\`isNotFound\`, \`isConflict\`, ...).

The site lists the messages of each code, so its search finds a message that you paste. \`…\` stands for a part that depends on the case. [Troubleshooting](../guides/troubleshooting.md) lists messages of
Kubernetes and symptoms without a message.

${sections.join('\n')}`
}

function codeSection(code: string, meaning: string, found: readonly string[]): string {
  const { cause = '', cure = '', messages = [] } = errorCures[code] ?? {}
  const texts = [...new Set([...found, ...messages])]
  const list = texts.map((text) => `- ${codeSpan(text)}\n`).join('')
  const folded = `<details><summary>${texts.length} messages</summary>\n\n${list}\n</details>\n`
  const shown = texts.length === 0 ? '' : `\nMessages:\n\n${texts.length > mostMessages ? folded : list}`
  return `### ${code}\n\n${meaning}\n\n**Cause.** ${cause}\n\n**Cure.** ${cure}\n${shown}`
}

/** Code that contains backticks needs longer fences. */
const codeSpan = (text: string): string => (text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``)

const fileOf = (root: string): string => join(root, 'docs', 'reference', 'errors.md')

const guideOf = (root: string): string => join(root, 'docs', 'guides', 'troubleshooting.md')
const codes = Object.values(tables).flatMap((table) => Object.keys(table))

/** The guide with links to all codes at its end. */
function guideText(root: string): string {
  const [text = ''] = readFileSync(guideOf(root), 'utf8').split(/(?<=<!-- codes: .* -->\n)/)
  const links = codes.toSorted().map((code) => `[\`${code}\`](../reference/errors.md#${code.toLowerCase()})`)
  return `${text}\n${links.join(' ·\n')}\n`
}

/** Writes the page, and the links of the guide to it. */
export function writeErrorPage(root: string): void {
  writeFileSync(fileOf(root), errorPage(new Map()))
  writeFileSync(guideOf(root), guideText(root))
}

/** Adds the messages of the source to the page of error codes; leaves other pages as they are. */
export function withErrorMessages(page: Page, root: string): Page {
  if (page.path !== 'reference/errors.md') return page
  return { ...page, text: errorPage((messagesOfSource ??= errorMessages(root))) }
}

/** The messages, which are collected once per process. */
let messagesOfSource: ReturnType<typeof errorMessages> | undefined

/** Reports codes in the text of pages that do not exist, for example after a code was renamed. */
export function checkCodes(pages: readonly Page[]): string[] {
  return pages.flatMap(({ path, text }) => {
    const unknown = new Set(
      [...text.matchAll(/\bKW_[A-Z_]+\b/g)].map(([code]) => code).filter((one) => !codes.includes(one)),
    )
    return [...unknown].map((code) => `docs/${path}: the error code ${code} does not exist`)
  })
}

/** Reports a stale page, and codes without a cure or cures without a code. */
export function checkErrorPage(root: string): string[] {
  const missing = codes.filter((code) => errorCures[code] === undefined)
  const extra = Object.keys(errorCures).filter((code) => !codes.includes(code))
  const isCurrent = existsSync(fileOf(root)) && readFileSync(fileOf(root), 'utf8') === errorPage(new Map())
  const isLinked = readFileSync(guideOf(root), 'utf8') === guideText(root)
  return [
    ...missing.map((code) => `tools/site/error-cures.ts: ${code} is missing`),
    ...extra.map((code) => `tools/site/error-cures.ts: ${code} does not exist`),
    ...(isCurrent ? [] : ['docs/reference/errors.md is stale. Run: npm run docs -- generate']),
    ...(isLinked ? [] : ['docs/guides/troubleshooting.md lacks codes. Run: npm run docs -- generate']),
  ]
}
