import { defaultOf, type FlagTable, flagLabel } from '@kubewright/base'
import type { Command, CommandGroup } from './command.ts'
import { usageLines } from './command-help.ts'

/** The Markdown page that describes every command, derived from their definitions. `operatorFlags` are those of operator programs. */
export function referencePage(all: readonly (Command | CommandGroup)[], operatorFlags: FlagTable): string {
  const commands = all.flatMap((one) => ('commands' in one ? one.commands : [one]))
  return `# Commands

<!-- Derived from the definitions of the commands; do not edit. \`npm test -- test/cli-reference -u\` rewrites it. -->

The \`kubewright\` command. Every command has \`-h, --help\`. Flags are written \`--name value\` or \`--name=value\`; a switch is turned on
with \`--name\` and off with \`--no-name\` or \`--name=false\`. The exit code is 0 for success, 1 for a failure, 2 for a mistake in the
arguments, and 130 or 143 for a command that SIGINT or SIGTERM interrupted.

| command | |
|---|---|
${commands.map(({ name, summary }) => `| [\`${name}\`](#${anchor(name)}) | ${cell(summary)} |`).join('\n')}

${commands.map(section).join('\n\n')}

## Flags of operators

The program of every operator has these flags; \`kubewright run\` and \`kubewright dev\` pass them on. They follow the conventions of Go: one
dash means the same as two, and the argument after a flag is its value.

${flagRows(operatorFlags)}
`
}

function section(command: Command): string {
  const { name, description, args, flags, forwards, examples = [] } = command
  const operands = [
    ...Object.values(args).map(({ label, help }) => `| \`${label}\` | ${cell(help)} |`),
    ...(forwards === undefined ? [] : [`| \`${forwards.label}\` | ${cell(forwards.help)} |`]),
  ]
  return [
    `## ${name}`,
    fenced(usageLines(command).join('\n')),
    paragraphs(description),
    ...(operands.length === 0 ? [] : [`| argument | |\n|---|---|\n${operands.join('\n')}`]),
    ...(Object.values(flags).every(({ hidden }) => hidden) ? [] : [flagRows(flags)]),
    ...(examples.length === 0
      ? []
      : [fenced(examples.map((line) => `kubewright ${line.replaceAll('\n', '\n  ')}`).join('\n'))]),
  ].join('\n\n')
}

function flagRows(table: FlagTable): string {
  const rows = Object.entries(table).flatMap(([name, flag]) => {
    if (flag.hidden) return []
    const isSwitch = flag.value === undefined
    const shown = defaultOf(flag) ?? (isSwitch ? (flag.negated ? '' : 'off') : 'none')
    return [`| \`${flagLabel(name, flag)}\` | ${cell(flag.help)} | ${cell(shown)} |`]
  })
  return `| flag | | default |\n|---|---|---|\n${rows.join('\n')}`
}

/** The paragraphs of a description. Lines that keep their layout become blocks of code. */
function paragraphs(description: string): string {
  const blocks: string[] = []
  let [prose, code]: [string[], string[]] = [[], []]
  const flush = (): void => {
    if (prose.length > 0) blocks.push(prose.join('\n'))
    if (code.length > 0) blocks.push(fenced(code.map((line) => line.slice(2)).join('\n'), 'text'))
    ;[prose, code] = [[], []]
  }
  for (const line of description.trim().split('\n')) {
    const isCode = line.startsWith('  ')
    if (line === '' || (isCode ? prose : code).length > 0) flush()
    if (line !== '') (isCode ? code : prose).push(line)
  }
  flush()
  return blocks.join('\n\n')
}

function fenced(text: string, language = 'sh'): string {
  return `\`\`\`${language}\n${text}\n\`\`\``
}

const anchor = (name: string): string => name.replaceAll(' ', '-')

/** A text in a cell of a table, which a bar would end. */
const cell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('<', '&lt;')
