// The public surface of every package as a text file, packages/NAME/api.txt, which is committed: a change to the surface shows in the
// diff. `npm run api` writes the reports; `npm run check` fails when one is stale. Reads the declarations that `tsc -b` wrote.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import ts from 'typescript'

interface Entry {
  /** The subpath as in package.json, such as `.` or `./pki`. */
  readonly subpath: string
  readonly declarations: string
}

const check = process.argv.includes('--check')
const printer = ts.createPrinter({ removeComments: true })
const packages = readdirSync('packages').filter((name) => existsSync(join('packages', name, 'package.json')))
const entries = new Map(packages.map((name) => [name, entriesOf(join('packages', name))]))
const program = ts.createProgram({
  rootNames: [...entries.values()].flat().map((entry) => entry.declarations),
  options: {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ESNext,
    skipLibCheck: true,
    types: ['node'],
  },
})
const checker = program.getTypeChecker()

let stale = 0
for (const [name, list] of entries) {
  if (list.length === 0) continue
  const file = join('packages', name, 'api.txt')
  const report = reportOf(name, list)
  const before = existsSync(file) ? readFileSync(file, 'utf8') : ''
  if (before === report) continue
  stale++
  if (check) console.error(`${file} is stale: ${changesOf(before, report)}`)
  else writeFileSync(file, report)
}
if (check && stale > 0) console.error('Run `npm run api` and commit the reports with the change that caused them.')
console.log(`${entries.size} packages, ${stale} ${check ? 'stale reports' : 'reports written'}`)
process.exitCode = check && stale > 0 ? 1 : 0

function entriesOf(folder: string): Entry[] {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
    exports?: Record<string, { types?: string }>
  }
  return Object.entries(manifest.exports ?? {}).flatMap(([subpath, { types }]) =>
    types === undefined ? [] : [{ subpath, declarations: resolve(folder, types) }],
  )
}

function reportOf(name: string, list: readonly Entry[]): string {
  const sections = list.map(({ subpath, declarations }) => {
    const source = program.getSourceFile(declarations)
    if (!source) throw new Error(`${declarations} is missing: run \`npm run build\` first`)
    const module = checker.getSymbolAtLocation(source)
    const symbols = module ? checker.getExportsOfModule(module) : []
    const lines = symbols.map((symbol) => describe(name, symbol)).sort()
    return `## ${subpath}\n\n${lines.join('\n')}\n`
  })
  return sections.join('\n')
}

/**
 * Describes one exported name with its declaration. Names of other packages are described in the report of that
 * package. Generated declarations are listed by name only, because their source is data.
 */
function describe(owner: string, symbol: ts.Symbol): string {
  const target = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
  const declarations = target.declarations ?? []
  const kinds = [...new Set(declarations.map(kindOf))].sort().join(' and ')
  const files = declarations.map((declaration) => declaration.getSourceFile().fileName)
  const origin = /\/packages\/([^/]+)\/dist\//.exec(files[0] ?? '')?.[1]
  if (origin !== undefined && origin !== owner) return `${symbol.name}: ${kinds} of ${origin}`
  if (files.some((file) => file.includes('/generated/'))) return `${symbol.name}: ${kinds}`
  const texts = declarations.map((declaration) => {
    const node = ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration
    return printer
      .printNode(ts.EmitHint.Unspecified, node, declaration.getSourceFile())
      .replace(/^export (default )?(declare )?/, '')
      .replace(/^declare /, '')
  })
  const renamed = target.name === symbol.name ? '' : ` (declared as ${target.name})`
  return `${symbol.name}${renamed}: ${texts.join('\n').replaceAll('\n', '\n  ')}`
}

function kindOf(node: ts.Declaration): string {
  if (ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return 'type'
  if (ts.isFunctionDeclaration(node)) return 'function'
  if (ts.isClassDeclaration(node)) return 'class'
  return ts.isVariableDeclaration(node) ? 'const' : 'name'
}

/** Returns the first lines that differ, enough to recognise the change. */
function changesOf(before: string, after: string): string {
  const old = new Set(before.split('\n'))
  const now = new Set(after.split('\n'))
  const added = [...now].filter((line) => !old.has(line)).map((line) => `+ ${line}`)
  const removed = [...old].filter((line) => !now.has(line)).map((line) => `- ${line}`)
  const shown = [...removed, ...added].slice(0, 6)
  return `\n    ${shown.join('\n    ')}`
}
