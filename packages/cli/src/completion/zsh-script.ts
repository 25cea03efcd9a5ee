import {
  type CompletionFlag,
  type CompletionWords,
  firstWords,
  globalFlags,
  secondWords,
  type ValueSource,
} from './completion-words.ts'

/** The completion script for zsh. */
export function zshScript(all: readonly CompletionWords[]): string {
  const cases = firstWords(all).map((one) => {
    const [name = ''] = one.words
    const seconds = secondWords(all, name)
    if (seconds.length === 0) return `    ${name}) ${takes(one)} ;;`
    const inner = seconds.map(
      (second) => `        ${second.words[1]}) shift words; (( CURRENT-- )); ${takes(second)} ;;`,
    )
    return `    ${name})
      if (( CURRENT == 2 )); then
        ${describe('what', seconds, 1, one.flags)}
        return
      fi
      case "$words[2]" in
${inner.join('\n')}
      esac ;;`
  })
  return `#compdef kubewright
# zsh completion of kubewright; to use it: source <(kubewright completion zsh)
_kubewright_list() {
  local -a found=(\${(f)"$("\${(Q)program}" completion --list "$1" 2>/dev/null)"})
  compadd -a found
}
_kubewright() {
  local program="$words[1]"
  if (( CURRENT == 2 )); then
    ${describe('command', firstWords(all), 0, globalFlags)}
    return
  fi
  # Drop the program, so that the command is the first word.
  shift words
  (( CURRENT-- ))
  case "$words[1]" in
${cases.join('\n')}
  esac
}
# zsh autoloads this file by its name, or the user sources it, possibly before completion is initialized.
if [[ $funcstack[1] == _kubewright ]]; then
  _kubewright "$@"
else
  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
  compdef _kubewright kubewright
fi
`
}

const single = (text: string): string => text.replaceAll("'", `'\\''`)
// In lists a colon ends the word, and in flags brackets end the text.
const item = (word: string, text: string): string => `'${word}:${single(text.replaceAll(':', '\\:'))}'`

/** Offers words, or flags after a dash. */
function describe(
  title: string,
  items: readonly CompletionWords[],
  index: number,
  flags: readonly CompletionFlag[],
): string {
  const words = items.map((one) => item(one.words[index] ?? '', one.summary))
  const dashed = flags.map(({ name, text }) => item(`--${name}`, text))
  return `local -a found=(${words.join(' ')}) flags=(${dashed.join(' ')})
    if [[ $PREFIX == -* ]]; then _describe -o option flags; else _describe ${title} found; fi`
}

function takes({ flags, operands }: CompletionWords): string {
  const rest = operands === undefined ? '' : ` '*:${titleOf(operands)}:${actionOf(operands)}'`
  return `_arguments -S ${flags.flatMap(specs).join(' ')}${rest}`
}

const titleOf = (source: ValueSource): string =>
  source.from === 'list' ? source.list : source.from === 'words' ? 'word' : 'file'

function specs(flag: CompletionFlag): string[] {
  const text = single(flag.text.replaceAll(/([[\]:])/g, '\\$1'))
  const title = flag.value === undefined || /^[a-z]/.test(flag.value) ? flag.name : flag.value.replaceAll(/\W/g, '')
  const tail = flag.value === undefined ? '' : `${flag.isOptional ? '::' : ':'}${title}:${actionOf(flag.source)}`
  const sign = flag.value === undefined ? '' : flag.isOptional ? '=-' : '='
  const long = `'*--${flag.name}${sign}[${text}]${tail}'`
  if (flag.short === undefined) return [long]
  return [long, `'*-${flag.short}${flag.value === undefined ? '' : '+'}[${text}]${tail}'`]
}

function actionOf(source: ValueSource | undefined): string {
  switch (source?.from) {
    case undefined:
      return ' '
    case 'words':
      return `(${source.words.join(' ')})`
    case 'files':
      return '_files'
    case 'folders':
      return '_files -/'
    case 'list':
      // The leading space prevents zsh from adding arguments.
      return ` _kubewright_list ${source.list}`
  }
}
