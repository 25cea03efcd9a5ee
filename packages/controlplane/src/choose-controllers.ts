import { closestWord, KubewrightError } from '@kubewright/base'
import type { ControllerChoice } from './start-controllers.ts'

/** The names that a choice of controllers can be made of, in order. Loads their code. */
export async function controllerNames(): Promise<readonly string[]> {
  return (await import('./start-controllers.ts')).controllerNames
}

/**
 * The controllers that a choice means, as plain names: `-name` leaves one out, `*` stands for all, and a list of exceptions only is about
 * all of them, as with kube-controller-manager. Names that do not exist are KW_CONTROLLER_UNKNOWN.
 */
export async function chooseControllers(choice: ControllerChoice): Promise<ControllerChoice> {
  if (typeof choice === 'string') return choice
  if (choice.length === 0) return 'none'
  const all = await controllerNames()
  const unknown = choice.map((name) => name.replace(/^-/, '')).filter((name) => name !== '*' && !all.includes(name))
  if (unknown.length > 0) {
    const listed = unknown.map((name) => `${JSON.stringify(name)}${suggestion(name, all)}`).join(', ')
    const message = `controllers: there is none named ${listed}; there are ${all.join(', ')}`
    throw new KubewrightError('KW_CONTROLLER_UNKNOWN', message)
  }
  const startsWithAll = choice.includes('*') || choice.every((name) => name.startsWith('-'))
  const added = startsWithAll ? all : choice
  return added.filter((name) => !name.startsWith('-') && !choice.includes(`-${name}`))
}

/** Most names end in -controller, which is easily left out. */
function suggestion(name: string, all: readonly string[]): string {
  const short = new Map(all.map((known) => [known.replace(/-controller$/, ''), known]))
  const meant = closestWord(name, all) ?? short.get(closestWord(name, short.keys()) ?? '')
  return meant === undefined ? '' : ` (did you mean "${meant}"?)`
}
