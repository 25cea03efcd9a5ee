// Compiles every fenced `ts` block of the Markdown files, so that no page shows code that does not work. A block is a module of its own;
// a block that starts with `// continues` is appended to the block before it on the same page.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runStep } from './run-step.ts'

const root = process.cwd()
const out = join(root, 'node_modules', '.cache', 'kubewright-docs')

interface Block {
  readonly page: string
  readonly line: number
  code: string
}

function pages(): string[] {
  const skip = /(^|\/)(node_modules|dist|\.git)(\/|$)/
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
  const name = `block-${i}.ts`
  names.set(name, block)
  writeFileSync(join(out, name), `${block.code}\nexport {}\n`)
})
writeFileSync(
  join(out, 'tsconfig.json'),
  JSON.stringify({
    extends: join(root, 'tsconfig.test.json'),
    compilerOptions: { noUnusedLocals: false, incremental: false, typeRoots: [join(root, 'node_modules', '@types')] },
    include: ['*.ts'],
  }),
)
if (blocks.length > 0) {
  const result = await runStep({
    label: 'docs',
    command: process.execPath,
    args: ['node_modules/ts7/bin/tsc', '-p', join(out, 'tsconfig.json')],
  })
  const named = result.output.replace(/^.*?(block-\d+\.ts)\((\d+),/gm, (all, name: string, line: string) => {
    const block = names.get(name)
    return block ? `${block.page}(${block.line + Number(line)},` : all
  })
  if (result.code !== 0) console.error(named)
  process.exitCode = result.code
}
console.log(`${blocks.length} blocks of code on the pages compiled`)
