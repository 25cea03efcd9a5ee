// The reference of all packages, generated from their declarations and doc comments. The pages exist only in the built
// site, so they are never stale.
import { spawnSync } from 'node:child_process'
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
  const pages = packages
    .filter(({ entries }) => entries.length > 0)
    .map(({ name, manifest, entries }) => {
      const sections = entries.map((entry) => writer.entry(name, entry))
      const description = manifest.description ?? ''
      const text = `# ${manifest.name}\n\n${description}. The [README](../../../packages/${name}/README.md) has examples, guarantees and limits.\n\n${sections.join('\n')}`
      const path = `reference/api/${name}.md`
      return { path, language: 'en', title: manifest.name, description, text, offset: 0, fields: {} } as const
    })
  const formatted = formatSignatures(root, writer.signatures)
  // A type parameter, such as Status, would get the link of the type with its name.
  const names = [...writer.names].filter(([name]) => !writer.typeParameters.has(name))
  return pages.map((page) => ({
    ...page,
    text: page.text.replace(/^@@signature (\d+)$/gm, (_, id: string) => formatted[Number(id)]!),
    isGenerated: true,
    names: new Map(names.map(([name, paths]) => [name, targetOf(name, paths, page.path)])),
  }))
}

/** A name leads to its section on the same page if there is one, else to the first page that has it. */
function targetOf(name: string, paths: ReadonlySet<string>, from: string): string {
  const [first = from] = paths
  return `${paths.has(from) ? from : first}#${name.toLowerCase()}`
}

/** Wraps long declarations. All of them are formatted in one run, because each start of the formatter takes time. */
function formatSignatures(root: string, signatures: readonly string[]): string[] {
  const separator = '// @@'
  const biome = join(root, 'node_modules', '@biomejs', 'biome', 'bin', 'biome')
  const options = ['--stdin-file-path=packages/signatures.ts', '--line-width=90']
  const input = signatures.map((text) => `${separator}\n${text}\n`).join('')
  const { stdout, status } = spawnSync(process.execPath, [biome, 'format', ...options], {
    cwd: root,
    input,
    encoding: 'utf8',
    maxBuffer: 1e8,
  })
  const parts = stdout.split(new RegExp(`^${separator}\\n`, 'm')).slice(1)
  const isComplete = status === 0 && parts.length === signatures.length
  return (isComplete ? parts : signatures).map((text) => withoutNoise(text.trim()))
}

/** Leaves out the parts of a declaration that a reader does not need. */
function withoutNoise(text: string): string {
  return text.replace(/^declare /gm, '').replace(/ \{\s*\}$/, '')
}

class ApiWriter {
  /** The code of all blocks, which are formatted together. */
  readonly signatures: string[] = []
  /** The pages that have a section about a name, that of the declaring package first. */
  readonly names = new Map<string, Set<string>>()
  readonly typeParameters = new Set<string>()
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
    const index = byName.filter((_, i) => !parts[i]!.isGenerated).map(({ name }) => `[${name}](#${name.toLowerCase()})`)
    const all = `${index.join(' · ')}\n\n`
    const folded = `<details><summary>All ${rest.length} names</summary>\n\n${all}</details>\n\n`
    const links = rest.length < 4 ? '' : rest.length > 60 ? folded : all
    return `${title}${names}${links}${rest.join('\n')}`
  }

  #symbol(owner: string, symbol: ts.Symbol): { readonly text: string; readonly isGenerated: boolean } {
    const target = symbol.flags & ts.SymbolFlags.Alias ? this.#checker.getAliasedSymbol(symbol) : symbol
    const declarations = target.declarations ?? []
    const file = declarations[0]?.getSourceFile().fileName ?? ''
    if (file.includes('/generated/')) return { text: `\`${symbol.name}\``, isGenerated: true }
    const page = `reference/api/${owner}.md`
    const origin = /\/packages\/([^/]+)\/dist\/(.+)\.d\.ts$/.exec(file)
    const paths = this.names.get(symbol.name) ?? new Set()
    // The package that declares a name comes first: links from other pages lead there.
    this.names.set(symbol.name, origin?.[1] === owner ? new Set([page, ...paths]) : new Set([...paths, page]))
    const source = origin && `[source](../../../packages/${origin[1]}/src/${origin[2]}.ts)`
    const comments = declarations.map((declaration) => commentOf(declaration)).filter((text) => text !== '')
    for (const declaration of declarations) {
      for (const { name } of ts.getEffectiveTypeParameterDeclarations(declaration as ts.DeclarationWithTypeParameters))
        this.typeParameters.add(name.text)
    }
    const blocks = declarations.map((declaration) => this.#declaration(declaration))
    const members = declarations.flatMap((declaration) => this.#members(declaration))
    const list = members.length === 0 ? '' : `${members.join('\n')}\n\n`
    const from = origin && origin[1] !== owner ? `Declared by [@kubewright/${origin[1]}](${origin[1]}.md) · ` : ''
    return {
      text: `### ${symbol.name}\n\n${[...new Set(comments)].join('\n\n')}\n\n${[...new Set(blocks)].join('\n')}\n${list}${from}${source ?? ''}\n`,
      isGenerated: false,
    }
  }

  /** One block of code for each overload; a declaration with a `@signature` shows that, and the whole type folded. */
  #declaration(declaration: ts.Declaration): string {
    const full = this.#block(this.#signature(declaration))
    const brief = signatureTag(declaration)
    if (brief === undefined) return full
    return `${this.#block(brief)}\n<details><summary>The whole type</summary>\n\n${full}\n</details>\n`
  }

  #block(signature: string): string {
    this.signatures.push(signature)
    return `\`\`\`ts\n@@signature ${this.signatures.length - 1}\n\`\`\`\n`
  }

  /** The declaration without its body: members follow as a list. */
  #signature(declaration: ts.Declaration): string {
    const source = declaration.getSourceFile()
    const print = (node: ts.Node): string => this.#printer.printNode(ts.EmitHint.Unspecified, node, source)
    if (ts.isInterfaceDeclaration(declaration) || ts.isClassDeclaration(declaration)) {
      const parameters = declaration.typeParameters?.map(print).join(', ')
      const heritage = declaration.heritageClauses?.map(print).join(' ') ?? ''
      const word = ts.isClassDeclaration(declaration) ? 'class' : 'interface'
      return `${word} ${declaration.name?.text}${parameters === undefined ? '' : `<${parameters}>`} ${heritage} {}`
    }
    const node = ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration
    const text = print(node).replace(/^export (default )?/, '')
    const lines = text.split('\n')
    return lines.length > 60 ? `// ${lines[0]} … see the source` : text
  }

  /** The members of an interface or class: a line with the type and the comment of each. */
  #members(declaration: ts.Declaration): string[] {
    if (!ts.isInterfaceDeclaration(declaration) && !ts.isClassDeclaration(declaration)) return []
    return declaration.members.flatMap((member) => {
      const isHidden =
        ts.canHaveModifiers(member) &&
        ts.getModifiers(member)?.some(({ kind }) => kind === ts.SyntaxKind.PrivateKeyword)
      if (isHidden || (member.name !== undefined && ts.isPrivateIdentifier(member.name))) return []
      const printed = this.#printer.printNode(ts.EmitHint.Unspecified, member, member.getSourceFile())
      const text = printed
        .replace(/\s+/g, ' ')
        .replace(/;$/, '')
        .replace(/^(?:(?:readonly|protected|static) )+/, '')
        .replace(/^([\w$]+\?: .*?)(?: \| undefined)$/, '$1')
      const comment = commentOf(member).replace(/\s*\n\s*/g, ' ')
      return [`- \`${text.replaceAll('`', "'")}\`${comment === '' ? '' : `<br>${comment}`}`]
    })
  }
}

/** The readable form of a declaration with many type parameters, from the tag `@signature` of its doc comment. */
function signatureTag(declaration: ts.Declaration): string | undefined {
  const tag = ts.getJSDocTags(declaration).find(({ tagName }) => tagName.text === 'signature')
  return tag && (ts.getTextOfJSDocComment(tag.comment) ?? '').replace(/\s+/g, ' ').trim()
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
    if (tag.tagName.text !== 'example') return []
    return [`\n\n${value.includes('```') ? value : `\`\`\`ts\n${value}\n\`\`\``}`]
  })
  const linked = [text, ...tags].join(' ').replace(/\{@link (?:[^}|]*\|)?([^}]*)\}/g, '`$1`')
  // Text such as `Promise<void>` outside of code spans must not become a tag.
  const code = /(```[\s\S]*?```|`[^`]*`)|</g
  return linked.trim().replace(code, (all, kept: string | undefined) => kept ?? all.replace('<', '&lt;'))
}
