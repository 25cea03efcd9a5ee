import { errorText } from '@kubewright/base'
import type { Interaction } from './interaction.ts'

/** Asks for values that the flags leave open, if there is a user to ask. */
export interface Questions {
  /** Whether the user is asked. Otherwise all answers are the suggestions. */
  readonly isAsking: boolean
  /**
   * The answer, or the suggestion if the answer is empty. Asks again while `check` throws. Undefined if there is neither a user nor a
   * suggestion.
   */
  text(
    question: string,
    suggestion: string | undefined,
    check?: (answer: string) => unknown,
  ): Promise<string | undefined>
  /** Yes or no. */
  confirm(question: string, suggestion: boolean): Promise<boolean>
}

/** Asks the user; with `yes`, or without a user, all answers are the suggestions. */
export function questionsFor(
  interaction: Interaction | undefined,
  yes: boolean,
  note: (line: string) => void,
): Questions {
  const user = yes ? undefined : interaction
  return {
    isAsking: user !== undefined,
    async text(question, suggestion, check = () => undefined) {
      if (user === undefined) return suggestion
      while (true) {
        const answer = (await user.ask(suggestion ? `${question} [${suggestion}]: ` : `${question}: `)).trim()
        const chosen = answer === '' ? suggestion : answer
        if (chosen === undefined) {
          note('This question has no default: type an answer')
          continue
        }
        try {
          check(chosen)
          return chosen
        } catch (error) {
          // The checks name the flag, which the user has not typed.
          note(errorText(error).replace(/^--[a-z-]+ /, 'The answer '))
        }
      }
    },
    async confirm(question, suggestion) {
      if (user === undefined) return suggestion
      while (true) {
        const answer = (await user.ask(`${question} [${suggestion ? 'Y/n' : 'y/N'}]: `)).trim().toLowerCase()
        if (answer === '') return suggestion
        if (['y', 'yes'].includes(answer)) return true
        if (['n', 'no'].includes(answer)) return false
        note('Answer y or n')
      }
    },
  }
}
