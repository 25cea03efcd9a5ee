import type { SizeEstimate } from '../define/cost-estimate.ts'
import type { Declarations } from '../define/declarations.ts'
import type { DeclaredType } from '../schema/declared-type.ts'
import { CelType } from '../values/cel-type.ts'

/** Returns the size of the data at a path, or `undefined` if it is unknown. */
export type SizeEstimator = (path: readonly string[]) => SizeEstimate | undefined

/**
 * Returns sizes from the schemas of the variables. A path that starts with a type identifier is looked up as if it
 * started with the declared variable: Kubernetes' estimator never checks the first step.
 */
export function declaredSizes(env: Declarations): SizeEstimator {
  return (path) => {
    const variable = env.variable(path[0]!) ?? env.declaredVariable
    if (variable === undefined || variable instanceof CelType) return undefined
    let node: DeclaredType | undefined = 'optional' in variable ? variable.optional : variable
    for (let i = 1; i < path.length && node !== undefined; i++) {
      const step = path[i]!
      if (step === '@items' || step === '@values') node = node.element
      else if (step === '@keys') node = node.key
      else node = fieldOf(node, step)
    }
    return node === undefined ? undefined : { min: 0, max: node.maxElements }
  }
}

function fieldOf(node: DeclaredType, name: string): DeclaredType | undefined {
  const field = node.fields?.get(name)
  return field === undefined || field.isKeyword === true ? undefined : field.type
}
