import { closestWord, KubewrightError } from '@kubewright/base'
import type { ControllerChoice } from '../config/plane-config.ts'
import { loadControllers } from './load-controllers.ts'

/** The names of all controllers, sorted. Loads their code. */
export async function controllerNames(): Promise<readonly string[]> {
  return (await loadControllers()).controllerNames
}

/**
 * Resolves a choice of controllers to plain names, like kube-controller-manager's `--controllers`: `-name` excludes
 * one, `*` stands for all, and a list of exclusions only starts from all. Unknown names throw KW_CONTROLLER_UNKNOWN.
 */
export async function chooseControllers(choice: ControllerChoice): Promise<ControllerChoice> {
  if (typeof choice === 'string') return choice
  if (choice.length === 0) return 'none'
  const all = await controllerNames()
  const unknown = choice.map((name) => name.replace(/^-/, '')).filter((name) => name !== '*' && !all.includes(name))
  if (unknown.length > 0) {
    const listed = unknown.map((name) => `${JSON.stringify(name)}${suggestion(name, all)}`).join(', ')
    const message = `controllers: unknown controller ${listed}; known controllers are ${all.join(', ')}`
    throw new KubewrightError('KW_CONTROLLER_UNKNOWN', message)
  }
  const startsWithAll = choice.includes('*') || choice.every((name) => name.startsWith('-'))
  const added = startsWithAll ? all : choice
  return added.filter((name) => !name.startsWith('-') && !choice.includes(`-${name}`))
}

/** Also matches names without the suffix `-controller`, which users often omit. */
function suggestion(name: string, all: readonly string[]): string {
  const short = new Map(all.map((known) => [known.replace(/-controller$/, ''), known]))
  const meant = closestWord(name, all) ?? short.get(closestWord(name, short.keys()) ?? '')
  return meant === undefined ? '' : ` (did you mean "${meant}"?)`
}
