// The reference of all packages, generated from their declarations and doc comments. The pages exist only in the built
// site, so they are never stale.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import ts from 'typescript'
import type { Page } from './page.ts'

interface Entry {
  /** The name to import from, such as `kubewright/testing`. */
  readonly specifier: string
  readonly declarations: string
}

interface Manifest {
  readonly name: string
  readonly description?: string
  readonly exports?: Readonly<Record<string, { readonly types?: string }>>
}

/** Entries of the façade that re-export a whole package: their names are on the page of that package. */
const wholePackages: Readonly<Record<string, string>> = {
  'kubewright/api': 'api',
  'kubewright/client': 'client',
  'kubewright/runtime': 'runtime',
  'kubewright/k8s': 'k8s',
}

/** Creates a page for each package. Requires the declarations that `tsc -b` writes; without them there are no pages. */
export function apiPages(root: string): Page[] {
  const folders = readdirSync(join(root, 'packages')).filter((name) =>
    existsSync(join(root, 'packages', name, 'package.json')),
  )
  const packages = folders.map((name) => {
    const manifest = JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8')) as Manifest
    const entries = Object.entries(manifest.exports ?? {}).flatMap(([subpath, { types }]): Entry[] =>
      types === undefined
        ? []
        : [{ specifier: manifest.name + subpath.slice(1), declarations: resolve(root, 'packages', name, types) }],
    )
    return { name, manifest, entries }
  })
  const rootNames = packages.flatMap(({ entries }) => entries.map(({ declarations }) => declarations))
  if (!rootNames.every((file) => existsSync(file))) return []
  const program = ts.createProgram({
    rootNames,
    options: {
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
      target: ts.ScriptTarget.ESNext,
      skipLibCheck: true,
      types: ['node'],
    },
  })
  const writer = new ApiWriter(program)
  return packages
    .filter(({ entries }) => entries.length > 0)
    .map(({ name, manifest, entries }) => {
      const sections = entries.map((entry) => writer.entry(name, entry))
      const description = manifest.description ?? ''
      const text = `# ${manifest.name}\n\n${description}. The [README](../../../packages/${name}/README.md) has examples, guarantees and limits.\n\n${sections.join('\n')}`
      const path = `reference/api/${name}.md`
      return { path, language: 'en', title: manifest.name, description, text, offset: 0, fields: {}, isGenerated: true }
    })
}

class ApiWriter {
  readonly #program: ts.Program
  readonly #checker: ts.TypeChecker
  readonly #printer = ts.createPrinter({ removeComments: true })

  constructor(program: ts.Program) {
    this.#program = program
    this.#checker = program.getTypeChecker()
  }

  entry(owner: string, { specifier, declarations }: Entry): string {
    const title = `## ${specifier}\n\n`
    const whole = wholePackages[specifier]
    if (whole !== undefined) return `${title}All names of [@kubewright/${whole}](${whole}.md).\n`
    const source = this.#program.getSourceFile(declarations)
    const module = source && this.#checker.getSymbolAtLocation(source)
    const symbols = module ? this.#checker.getExportsOfModule(module) : []
    const byName = symbols.toSorted((a, b) => a.name.localeCompare(b.name))
    const parts = byName.map((symbol) => this.#symbol(owner, symbol))
    const generated = parts.filter((part) => part.isGenerated).map((part) => part.text)
    const rest = parts.filter((part) => !part.isGenerated).map((part) => part.text)
    const names = generated.length === 0 ? '' : `Kinds and types of Kubernetes: ${generated.join(', ')}.\n\n`
    return `${title}${names}${rest.join('\n')}`
  }

  #symbol(owner: string, symbol: ts.Symbol): { readonly text: string; readonly isGenerated: boolean } {
    const target = symbol.flags & ts.SymbolFlags.Alias ? this.#checker.getAliasedSymbol(symbol) : symbol
    const declarations = target.declarations ?? []
    const file = declarations[0]?.getSourceFile().fileName ?? ''
    if (file.includes('/generated/')) return { text: `\`${symbol.name}\``, isGenerated: true }
    const origin = /\/packages\/([^/]+)\/dist\/(.+)\.d\.ts$/.exec(file)
    const source = origin && `[source](../../../packages/${origin[1]}/src/${origin[2]}.ts)`
    const signatures = declarations.map((declaration) => this.#signature(declaration))
    const comments = declarations.map((declaration) => commentOf(declaration)).filter((text) => text !== '')
    const members = declarations.flatMap((declaration) => this.#members(declaration))
    const table =
      members.length === 0
        ? ''
        : `| member | |\n|---|---|\n${members.map(({ name, comment }) => `| \`${cell(name)}\` | ${cell(comment)} |`).join('\n')}\n\n`
    const from = origin && origin[1] !== owner ? `Of @kubewright/${origin[1]}. ` : ''
    return {
      text: `### ${symbol.name}\n\n${[...new Set(comments)].join('\n\n')}\n\n\`\`\`ts\n${signatures.join('\n')}\n\`\`\`\n\n${table}${from}${source ?? ''}\n`,
      isGenerated: false,
    }
  }

  #signature(declaration: ts.Declaration): string {
    const node = ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration
    const text = this.#printer.printNode(ts.EmitHint.Unspecified, node, declaration.getSourceFile())
    const short = text
      .replace(/^export (default )?(declare )?/, '')
      .replace(/^declare /, '')
      .replaceAll('    ', '  ')
    const lines = short.split('\n').filter((line) => !/^\s*(?:private |#)/.test(line))
    return lines.length > 60 ? [...lines.slice(0, 60), '  // … see the source'].join('\n') : lines.join('\n')
  }

  /** The members of an interface or class that have a comment. */
  #members(declaration: ts.Declaration): { name: string; comment: string }[] {
    if (!ts.isInterfaceDeclaration(declaration) && !ts.isClassDeclaration(declaration)) return []
    return declaration.members.flatMap((member) => {
      const comment = commentOf(member)
      const name = member.name?.getText()
      return comment === '' || name === undefined ? [] : [{ name, comment }]
    })
  }
}

/** The text of a doc comment with its `@default`, on as many lines as it has paragraphs. */
function commentOf(node: ts.Node): string {
  const docs = ts.getJSDocCommentsAndTags(node).filter((one) => ts.isJSDoc(one))
  const doc = docs.at(-1)
  if (doc === undefined) return ''
  const text = ts.getTextOfJSDocComment(doc.comment) ?? ''
  const tags = (doc.tags ?? []).flatMap((tag) => {
    const value = ts.getTextOfJSDocComment(tag.comment) ?? ''
    if (tag.tagName.text === 'default') return [`Default: ${value}.`]
    return tag.tagName.text === 'example' ? [`\n\n${value}`] : []
  })
  const linked = [text, ...tags].join(' ').replace(/\{@link (?:[^}|]*\|)?([^}]*)\}/g, '`$1`')
  // Text such as `Promise<void>` outside of code spans must not become a tag.
  return linked.trim().replace(/(`[^`]*`)|</g, (all, code: string | undefined) => code ?? all.replace('<', '&lt;'))
}

const cell = (text: string): string => text.replace(/\s*\n\s*/g, ' ').replaceAll('|', '\\|')
