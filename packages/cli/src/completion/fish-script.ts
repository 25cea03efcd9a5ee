import {
  type CompletionFlag,
  type CompletionWords,
  firstWords,
  globalFlags,
  secondWords,
  type ValueSource,
} from './completion-words.ts'

/** The completion script for fish. */
export function fishScript(all: readonly CompletionWords[]): string {
  const lines = firstWords(all).map(
    ({ words, summary }) => `complete -c kubewright -n __kubewright_after -a ${words[0]} -d ${quote(summary)}`,
  )
  lines.push(...globalFlags.map((flag) => flagLine('__kubewright_after', flag)))
  for (const { words, summary, flags, operands } of all) {
    const [command = '', second] = words
    const inside = `__kubewright_in ${words.join(' ')}`
    if (second !== undefined)
      lines.push(`complete -c kubewright -n '__kubewright_after ${command}' -a ${second} -d ${quote(summary)}`)
    // The flags of a command of a group follow both words.
    const place =
      secondWords(all, command).length > 0 && second === undefined ? `__kubewright_after ${command}` : inside
    if (operands !== undefined) lines.push(`complete -c kubewright -n ${quote(place)}${offers(operands)}`)
    lines.push(...flags.map((flag) => flagLine(quote(place), flag)))
  }
  return `# fish completion of kubewright; to use it: kubewright completion fish | source
function __kubewright_in -d 'Test whether the command line begins with these words'
  set -l typed (commandline -opc)[2..-1]
  test (count $typed) -ge (count $argv); or return 1
  for i in (seq (count $argv))
    test "$typed[$i]" = "$argv[$i]"; or return 1
  end
end
function __kubewright_after -d 'Test whether the command line has exactly these words'
  test (count (commandline -opc)) -eq (math (count $argv) + 1); and __kubewright_in $argv
end
function __kubewright_list -d 'Print a list of kubewright'
  set -l typed (commandline -opc)
  $typed[1] completion --list $argv[1] 2>/dev/null
end
complete -c kubewright -f
${lines.join('\n')}
`
}

const quote = (text: string): string => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`

function flagLine(place: string, { name, short, value, isOptional, source, text }: CompletionFlag): string {
  const letter = short === undefined ? '' : ` -s ${short}`
  const needs = value === undefined || isOptional ? '' : source?.from === 'files' ? ' -r' : ' -x'
  const offered = value === undefined || isOptional || source === undefined ? '' : offers(source)
  return `complete -c kubewright -n ${place} -l ${name}${letter}${needs}${offered} -d ${quote(text)}`
}

function offers(source: ValueSource): string {
  switch (source.from) {
    case 'words':
      return ` -a ${quote(source.words.join(' '))}`
    case 'files':
      return ' -F'
    case 'folders':
      return ` -a '(__fish_complete_directories (commandline -ct))'`
    case 'list':
      return ` -a '(__kubewright_list ${source.list})'`
  }
}
