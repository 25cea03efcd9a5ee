import { errorText } from '@kubewright/base'
import type { ScaffoldHost } from '../scaffold/scaffold-host.ts'

/** Asks for what the flags did not say, if there is somebody to ask. */
export interface Questions {
  /** The answer, or the suggestion. Asks again until `check` throws no error. Undefined when nobody can be asked and nothing is suggested. */
  text(
    question: string,
    suggestion: string | undefined,
    check?: (answer: string) => unknown,
  ): Promise<string | undefined>
  /** Yes or no. */
  confirm(question: string, suggestion: boolean): Promise<boolean>
}

/** Asks at the terminal; with `yes`, or without a terminal, everything is as suggested. */
export function questionsOf(host: ScaffoldHost, yes: boolean | undefined, note: (line: string) => void): Questions {
  const isAsking = host.isInteractive && yes !== true
  return {
    async text(question, suggestion, check = () => undefined) {
      if (!isAsking) return suggestion
      while (true) {
        const answer = (await host.ask(suggestion ? `${question} [${suggestion}]: ` : `${question}: `)).trim()
        const chosen = answer === '' ? suggestion : answer
        if (chosen === undefined) {
          note('There is no default: please type an answer')
          continue
        }
        try {
          check(chosen)
          return chosen
        } catch (error) {
          // Checks are about flags, of which nobody who is asked has typed one.
          note(errorText(error).replace(/^--[a-z-]+ /, 'This '))
        }
      }
    },
    async confirm(question, suggestion) {
      if (!isAsking) return suggestion
      while (true) {
        const answer = (await host.ask(`${question} [${suggestion ? 'Y/n' : 'y/N'}]: `)).trim().toLowerCase()
        if (answer === '') return suggestion
        if (['y', 'yes'].includes(answer)) return true
        if (['n', 'no'].includes(answer)) return false
        note('Please answer y or n')
      }
    },
  }
}
