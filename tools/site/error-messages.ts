// The texts of all errors with a code, read from the source: a reader who pastes a message into the search finds it.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'

/** Stands for a part of a message that depends on the case. */
const gap = '…'

/** An error class with a code of its own, and the position of the message among the arguments of its constructor. */
interface ErrorClass {
  readonly code: string
  readonly position: number
}

/** Collects the messages of each error code from the sources of all packages. */
export function errorMessages(root: string): ReadonlyMap<string, readonly string[]> {
  const sources = sourcesOf(join(root, 'packages'))
  const classes = new Map(sources.flatMap((source) => errorClassesOf(source)))
  const messages = new Map<string, Set<string>>()
  const add = (code: string, expression: ts.Expression | undefined): void => {
    if (expression === undefined) return
    let found = messages.get(code)
    if (found === undefined) messages.set(code, (found = new Set()))
    for (const text of textsOf(expression)) if (isTelling(text)) found.add(tidy(text))
  }
  for (const source of sources) {
    const visit = (node: ts.Node): void => {
      if (ts.isNewExpression(node)) {
        const [first, second] = node.arguments ?? []
        const known = ts.isIdentifier(node.expression) ? classes.get(node.expression.text) : undefined
        if (first !== undefined && isCode(first)) add(first.text, second)
        else if (known !== undefined) add(known.code, node.arguments?.[known.position])
      }
      if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.SuperKeyword) {
        const [first, second] = node.arguments
        if (first !== undefined && isCode(first)) add(first.text, second)
      }
      ts.forEachChild(node, visit)
    }
    visit(source)
  }
  return new Map([...messages].map(([code, texts]) => [code, [...texts].sort()]))
}

function sourcesOf(packages: string): ts.SourceFile[] {
  const files = readdirSync(packages, { recursive: true, encoding: 'utf8' })
  return files
    .filter((file) => /^[^/\\]+[/\\]src[/\\].*\.ts$/.test(file) && !/generated|testdata|\.test(-d)?\.ts$/.test(file))
    .sort()
    .map((file) => readFileSync(join(packages, file), 'utf8'))
    .filter((text) => /Error\(|super\(/.test(text))
    .map((text, i) => ts.createSourceFile(`${i}.ts`, text, ts.ScriptTarget.ESNext, true))
}

/** The classes of a file that pass a code of their own to their base class. */
function errorClassesOf(source: ts.SourceFile): [string, ErrorClass][] {
  const found: [string, ErrorClass][] = []
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.SuperKeyword) {
      const [first, message] = node.arguments
      const maker = ts.findAncestor(node, ts.isConstructorDeclaration)
      const name = maker && ts.isClassDeclaration(maker.parent) ? maker.parent.name?.text : undefined
      if (first !== undefined && isCode(first) && maker && name !== undefined && message && ts.isIdentifier(message)) {
        const position = maker.parameters.findIndex((one) => one.name.getText() === message.text)
        if (position >= 0) found.push([name, { code: first.text, position }])
      }
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

const isCode = (node: ts.Node): node is ts.StringLiteral => ts.isStringLiteral(node) && node.text.startsWith('KW_')

/** The texts that an expression can have, with a gap for each part that is not known. */
function textsOf(node: ts.Expression, depth = 0): string[] {
  if (ts.isStringLiteralLike(node)) return [node.text]
  if (ts.isTemplateExpression(node)) {
    let texts = [node.head.text]
    for (const span of node.templateSpans) {
      const parts = alternativesOf(span.expression, depth)
      texts = texts.flatMap((text) => parts.map((part) => text + part + span.literal.text))
    }
    return texts
  }
  if (ts.isParenthesizedExpression(node)) return textsOf(node.expression, depth)
  if (ts.isConditionalExpression(node)) return [...textsOf(node.whenTrue, depth), ...textsOf(node.whenFalse, depth)]
  if (ts.isBinaryExpression(node)) {
    const { kind } = node.operatorToken
    if (kind === ts.SyntaxKind.PlusToken) {
      const right = textsOf(node.right, depth)
      return textsOf(node.left, depth).flatMap((left) => right.map((text) => left + text))
    }
    if (kind === ts.SyntaxKind.QuestionQuestionToken) return textsOf(node.right, depth)
  }
  const value = ts.isIdentifier(node) && depth < 3 ? constantOf(node) : undefined
  return value === undefined ? [gap] : textsOf(value, depth + 1)
}

/** The texts of a part of a template. Parts with many alternatives become a gap: the list would be longer than useful. */
function alternativesOf(node: ts.Expression, depth: number): string[] {
  const texts = ts.isStringLiteralLike(node) || ts.isIdentifier(node) ? textsOf(node, depth) : [gap]
  return texts.length > 2 || texts.includes('') ? [gap] : texts
}

/** The value of a constant that is visible where a name is used. */
function constantOf(name: ts.Identifier): ts.Expression | undefined {
  for (let scope: ts.Node | undefined = name.parent; scope !== undefined; scope = scope.parent) {
    if (ts.isFunctionLike(scope) && scope.parameters.some((one) => one.name.getText() === name.text)) return undefined
    if (!ts.isBlock(scope) && !ts.isSourceFile(scope) && !ts.isCaseClause(scope)) continue
    for (const statement of scope.statements) {
      if (!ts.isVariableStatement(statement) || !(statement.declarationList.flags & ts.NodeFlags.Const)) continue
      const found = statement.declarationList.declarations.find((one) => one.name.getText() === name.text)
      if (found !== undefined) return found.initializer
    }
  }
  return undefined
}

/** Whether enough of a message is known to recognize it. */
const isTelling = (text: string): boolean => (text.replaceAll(gap, ' ').match(/[A-Za-z]{2,}/g) ?? []).length >= 2

const tidy = (text: string): string =>
  text
    .replace(/\s+/g, ' ')
    .replace(/…(?: ?…)+/g, gap)
    .trim()
