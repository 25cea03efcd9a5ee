// Compiles every fenced `ts` block of the Markdown files, so that all code in the documentation works. Each block is a
// module. A block that starts with `// continues` is appended to the previous block of the same page. A block that
// starts with the path of a file, such as `// src/site.ts`, can be imported under that path by other blocks of the
// page.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { runStep } from './run-step.ts'

const root = process.cwd()
const out = join(root, 'node_modules', '.cache', 'kubewright-docs')

interface Block {
  readonly page: string
  readonly line: number
  code: string
}

function pages(): string[] {
  // The code of translated pages equals that of the English page, which the check of the site ensures.
  const skip = /(^|\/)(node_modules|dist|\.git)(\/|$)|^docs\/(zh|ja|ru)\//
  return readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.md') && !skip.test(file),
  )
}

function blocksOf(page: string): Block[] {
  const blocks: Block[] = []
  const text = readFileSync(join(root, page), 'utf8')
  for (const match of text.matchAll(/^```(?:ts|typescript)\n([\s\S]*?)^```$/gm)) {
    const code = match[1]!
    const last = blocks.at(-1)
    if (code.startsWith('// continues') && last) last.code += code
    else blocks.push({ page, line: text.slice(0, match.index).split('\n').length, code })
  }
  return blocks
}

const blocks = pages().flatMap(blocksOf)
rmSync(out, { recursive: true, force: true })
mkdirSync(out, { recursive: true })
const names = new Map<string, Block>()
blocks.forEach((block, i) => {
  const name = nameOf(block, i)
  names.set(name, block)
  const file = join(out, name)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, `${block.code}\nexport {}\n`)
})

/** Returns the file for a block. If several blocks have the same path, others import the last one. */
function nameOf(block: Block, index: number): string {
  const path = (one: Block): string | undefined => /^\/\/ (\S+\.ts)\n/.exec(one.code)?.[1]
  const named = path(block)
  if (named === undefined) return `block-${index}.ts`
  const isLast = !blocks.slice(index + 1).some((one) => one.page === block.page && path(one) === named)
  return `page-${block.page.replace(/[^a-zA-Z0-9]+/g, '-')}/${isLast ? named : named.replace(/\.ts$/, `-${index}.ts`)}`
}
writeFileSync(
  join(out, 'tsconfig.json'),
  JSON.stringify({
    extends: join(root, 'tsconfig.test.json'),
    compilerOptions: { noUnusedLocals: false, incremental: false, typeRoots: [join(root, 'node_modules', '@types')] },
    include: ['**/*.ts'],
  }),
)
if (blocks.length > 0) {
  const result = await runStep({
    label: 'docs',
    command: process.execPath,
    args: ['node_modules/ts7/bin/tsc', '-p', join(out, 'tsconfig.json')],
  })
  const named = result.output.replace(
    /^.*?((?:block-\d+|page-[^(]*)\.ts)\((\d+),/gm,
    (all, name: string, line: string) => {
      const block = names.get(name)
      return block ? `${block.page}(${block.line + Number(line)},` : all
    },
  )
  if (result.code !== 0) console.error(named)
  process.exitCode = result.code
}
console.log(`${blocks.length} code blocks compiled`)
