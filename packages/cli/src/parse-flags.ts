import { type ParseArgsConfig, parseArgs } from 'node:util'
import { closestWord } from '@kubewright/base'
import { UsageError } from './usage-error.ts'

/** Calls `parseArgs`, and says what it complains about in the words of this program. Throws {@link UsageError}. */
export function parseFlags<const T extends ParseArgsConfig>(config: T): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config)
  } catch (error) {
    throw new UsageError(problemOf(error, Object.keys(config.options ?? {})))
  }
}

/** Node explains at length how to pass what looks like an option; here is what matters. */
function problemOf(error: unknown, known: readonly string[]): string {
  const { code, message } = error as NodeJS.ErrnoException
  const [, named = ''] = /'(?:-\w, )?(-[^\s',]*)/.exec(message) ?? []
  switch (code) {
    case 'ERR_PARSE_ARGS_UNKNOWN_OPTION': {
      const meant = named.startsWith('--') ? closestWord(named.slice(2), known) : undefined
      return `unknown option ${named}${meant === undefined ? '' : `: did you mean --${meant}?`}`
    }
    case 'ERR_PARSE_ARGS_INVALID_OPTION_VALUE':
      if (message.includes('does not take')) return `${named} takes no value`
      if (message.includes('ambiguous')) return `${named} needs a value; one that begins with a dash as ${named}=VALUE`
      return `${named} needs a value`
    case 'ERR_PARSE_ARGS_UNEXPECTED_POSITIONAL':
      return `unexpected argument "${/'(.*?)'/.exec(message)?.[1] ?? ''}"`
    default:
      return message
  }
}
