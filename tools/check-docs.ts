// Compiles every fenced `ts` block of the Markdown files, so that all code in the documentation works. Each block is a
// module; code-modules.ts describes how blocks refer to each other.
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { type CodeModule, codeModulesOf } from './code-modules.ts'
import { runStep } from './run-step.ts'

const root = process.cwd()
const out = join(root, 'node_modules', '.cache', 'kubewright-docs')

function pages(): string[] {
  // The code of translated pages equals that of the English page, which the check of the site ensures.
  const skip = /(^|\/)(node_modules|dist|\.git)(\/|$)|^docs\/(zh|ja|ru)\//
  return readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.md') && !skip.test(file),
  )
}

rmSync(out, { recursive: true, force: true })
const modules = new Map<string, { readonly page: string; readonly parts: CodeModule['parts']; readonly code: string }>()
for (const page of pages()) {
  for (const module of codeModulesOf(readFileSync(join(root, page), 'utf8'))) {
    const name = `page-${page.replace(/[^a-zA-Z0-9]+/g, '-')}/${module.name}`
    modules.set(name, { page, ...module })
    mkdirSync(dirname(join(out, name)), { recursive: true })
    writeFileSync(join(out, name), `${module.code}\nexport {}\n`)
  }
}
writeFileSync(
  join(out, 'tsconfig.json'),
  JSON.stringify({
    extends: join(root, 'tsconfig.test.json'),
    compilerOptions: { noUnusedLocals: false, incremental: false, typeRoots: [join(root, 'node_modules', '@types')] },
    include: ['**/*.ts'],
  }),
)
const result = await runStep({
  label: 'docs',
  command: process.execPath,
  args: ['node_modules/ts7/bin/tsc', '-p', join(out, 'tsconfig.json')],
})
const named = result.output.replace(/^.*?(page-[^(]*\.ts)\((\d+),/gm, (all, name: string, line: string) => {
  const module = modules.get(name)
  return module ? `${module.page}(${lineOf(module, Number(line))},` : all
})
if (result.code !== 0) console.error(named)
process.exitCode = result.code
console.log(`${modules.size} code blocks compiled`)

/** The line of the page that a line of the module is from. */
function lineOf({ parts, code }: Pick<CodeModule, 'parts' | 'code'>, line: number): number {
  const before = (start: number): number => code.slice(0, start).split('\n').length - 1
  const part = parts.findLast(({ start }) => before(start) < line)!
  return part.line + line - before(part.start)
}
