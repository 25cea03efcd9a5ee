import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import ts from 'typescript'

/** One import, export-from or dynamic import in a source file. */
export interface SourceImport {
  readonly specifier: string
  /** The imported file, for a relative specifier. */
  readonly target: string | undefined
  /** Whether the module is loaded when this one is: false for types and for dynamic imports. */
  readonly atLoad: boolean
}

/** The library's source files below a folder: no tests, type tests, benchmarks or test data. */
export function sourceFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name) && !/\.(test|test-d|bench)\.tsx?$/.test(entry.name))
    .filter((entry) => !entry.parentPath.split('/').includes('testdata'))
    .map((entry) => join(entry.parentPath, entry.name))
}

/** Every import of a file, in order. */
export function importsOf(file: string): SourceImport[] {
  const imports: SourceImport[] = []
  const add = (specifier: string, atLoad: boolean): void => {
    const target = specifier.startsWith('.') ? join(dirname(file), specifier) : undefined
    imports.push({ specifier, target, atLoad })
  }
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node)) add(textOf(node.moduleSpecifier), importsValue(node.importClause))
    else if (ts.isExportDeclaration(node) && node.moduleSpecifier) add(textOf(node.moduleSpecifier), exportsValue(node))
    else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) add(textOf(node.argument.literal), false)
    else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      const argument = node.arguments[0]
      if (argument && ts.isStringLiteralLike(argument)) add(argument.text, false)
    }
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest))
  return imports
}

function textOf(node: ts.Node): string {
  return ts.isStringLiteralLike(node) ? node.text : ''
}

/** A clause is absent when a module is imported for its side effects. */
function importsValue(clause: ts.ImportClause | undefined): boolean {
  if (!clause) return true
  if (clause.phaseModifier === ts.SyntaxKind.TypeKeyword) return false
  const { name, namedBindings } = clause
  return (
    !!name || !namedBindings || ts.isNamespaceImport(namedBindings) || namedBindings.elements.some((e) => !e.isTypeOnly)
  )
}

function exportsValue({ isTypeOnly, exportClause }: ts.ExportDeclaration): boolean {
  if (isTypeOnly) return false
  return !exportClause || !ts.isNamedExports(exportClause) || exportClause.elements.some((e) => !e.isTypeOnly)
}
