// `reference/schema.md`: every function of `s` on one page, from the doc comments of the builder and from the JSON that
// it creates.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { s } from '@kubewright/schema'
import ts from 'typescript'

const builder = 'packages/schema/src/builder'

/** A call of each function, to show the schema in the CRD. */
const examples: Readonly<Record<string, readonly [code: string, json: unknown]>> = {
  string: ["s.string({ minLength: 1, pattern: '^[a-z]+$' })", s.string({ minLength: 1, pattern: '^[a-z]+$' }).json],
  enum: ["s.enum('Small', 'Large')", s.enum('Small', 'Large').json],
  literal: ["s.literal('fixed')", s.literal('fixed').json],
  int: ['s.int({ minimum: 1, maximum: 9 })', s.int({ minimum: 1, maximum: 9 }).json],
  number: ['s.number({ minimum: 0 })', s.number({ minimum: 0 }).json],
  bool: ['s.bool()', s.bool().json],
  array: [
    "s.array(s.object({ name: s.string() }), { listType: 'map', keys: ['name'] })",
    s.array(s.object({ name: s.string() }), { listType: 'map', keys: ['name'] }).json,
  ],
  map: ['s.map(s.string())', s.map(s.string()).json],
  object: [
    's.object({ name: s.string(), size: s.int().default(1) })',
    s.object({ name: s.string(), size: s.int().default(1) }).json,
  ],
  intOrString: ['s.intOrString()', s.intOrString().json],
  json: ['s.json()', s.json().json],
  embeddedResource: ['s.embeddedResource()', s.embeddedResource().json],
  quantity: ['s.quantity()', s.quantity().json],
  time: ['s.time()', s.time().json],
  microTime: ['s.microTime()', s.microTime().json],
  duration: ['s.duration()', s.duration().json],
  bytes: ['s.bytes()', s.bytes().json],
  localObjectReference: ['s.localObjectReference()', s.localObjectReference().json],
}

/** The tables of options, with the interfaces that declare their members. */
const optionTypes: Readonly<Record<string, readonly string[]>> = {
  StringOptions: ['StringOptions'],
  NumberOptions: ['NumberOptions'],
  IntOptions: ['IntOptions'],
  ArrayOptions: ['ListSize', 'PlainListOptions', 'MapListOptions'],
  MapOptions: ['MapOptions'],
}

/** The text of the page. */
function schemaPage(root: string): string {
  const functions = membersOf(join(root, builder, 'schema-builder.ts'), 'SchemaBuilder')
  const methods = membersOf(join(root, builder, 'schema.ts'), 'Schema').filter(
    ({ name }) => !/^\$|json|presence/.test(name),
  )
  const names = [...new Set(functions.map(({ name }) => name))]
  const options = join(root, builder, 'validation-options.ts')
  const optionTables = Object.entries(optionTypes).map(([title, types]) => {
    const members = types.flatMap((type) => membersOf(options, type))
    return `### ${title}\n\n${table(members)}`
  })
  const objects = membersOf(join(root, builder, 'object-shape.ts'), 'ObjectOptions')
  const rules = membersOf(join(root, builder, 'schema.ts'), 'RuleOptions')
  const sections = names.map((name) => {
    const comments = functions.filter((one) => one.name === name).map(({ comment }) => comment)
    const example = examples[name]
    const code = example && `\n\n\`\`\`text\n${example[0]}\n→ ${JSON.stringify(example[1])}\n\`\`\``
    return `### s.${name}\n\n${[...new Set(comments)].join(' ')}${code ?? ''}\n`
  })
  return `# \`s\` in one page

<!-- Derived from the doc comments of packages/schema/src/builder; do not edit. \`npm run docs -- generate\` rewrites it. -->

\`s\` describes the fields of a custom resource once: for the CRD, for TypeScript and for run-time checks. Limits are options with the names of OpenAPI; whatever changes the TypeScript
type is a method. Only schemas that a CRD can express can be built.

\`\`\`ts
import { s } from 'kubewright'

export const spec = s
  .object({
    image: s.string({ minLength: 1 }).describe('Container image to serve.'),
    replicas: s.int({ minimum: 1, maximum: 9 }).default(1),
    domain: s.string({ format: 'hostname' }).rule('self == oldSelf', 'is immutable').optional(),
  })
  .rule('self.replicas > 1 || !has(self.domain)', 'a domain needs two replicas')
\`\`\`

## Methods of every schema

${table(methods)}

Options of \`.rule(cel, options)\`:

${table(rules)}

## Functions

${sections.join('\n')}
## Options

All functions with options also accept \`allOf\`, \`anyOf\`, \`oneOf\` and \`not\`.

${optionTables.join('\n')}
### ObjectOptions

${table(objects)}`
}

interface Member {
  readonly name: string
  readonly comment: string
}

function table(members: readonly Member[]): string {
  const row = ({ name, comment }: Member): string => `| \`${name}\` | ${comment.replaceAll('|', '\\|')} |`
  return `| | |\n|---|---|\n${members.map(row).join('\n')}\n`
}

/** The members of an interface with the texts of their doc comments. */
function membersOf(file: string, name: string): Member[] {
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.ESNext, true)
  const found = source.statements.find((node) => ts.isInterfaceDeclaration(node) && node.name.text === name)
  if (found === undefined || !ts.isInterfaceDeclaration(found)) return []
  return found.members.flatMap((member) => {
    const doc = ts.getJSDocCommentsAndTags(member).find((one) => ts.isJSDoc(one))
    const tags = (doc?.tags ?? []).flatMap((tag) =>
      tag.tagName.text === 'default' ? [`Default: ${ts.getTextOfJSDocComment(tag.comment)}.`] : [],
    )
    const text = [ts.getTextOfJSDocComment(doc?.comment) ?? '', ...tags].join(' ').replace(/\s+/g, ' ').trim()
    return member.name === undefined || text === '' ? [] : [{ name: member.name.getText(source), comment: text }]
  })
}

const fileOf = (root: string): string => join(root, 'docs', 'reference', 'schema.md')

/** Writes the page. */
export function writeSchemaPage(root: string): void {
  writeFileSync(fileOf(root), schemaPage(root))
}

/** Reports a page that is not as it would be written now. */
export function checkSchemaPage(root: string): string[] {
  const isCurrent = existsSync(fileOf(root)) && readFileSync(fileOf(root), 'utf8') === schemaPage(root)
  return isCurrent ? [] : ['docs/reference/schema.md is stale. Run: npm run docs -- generate']
}
