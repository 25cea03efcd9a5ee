import type { AnyKind, Draft, Infer, KubeObject } from '@kubewright/api'
import { isDNS1123Label } from '@kubewright/base'
import type { Context } from '../define/context.ts'
import { isReady } from './is-ready.ts'

/** The context of the functions of a dependent. */
export interface DependentContext extends Pick<Context, 'client' | 'now' | 'log' | 'signal'> {
  /** The live object of a dependent in `dependsOn`, which is ready. */
  live<K extends AnyKind>(dependent: Dependent<never, K>): Infer<K>
}

/** Options of {@link dependent}. */
export interface DependentOptions<Primary, K extends AnyKind> {
  /** The desired object. It gets the namespace of the primary object, an owner reference and a label. */
  desired(primary: Primary, context: DependentContext): Draft<K> | Promise<Draft<K>>
  /** Whether the object is wanted. An object that is no longer wanted is deleted. @default always */
  when?(primary: Primary): boolean
  /**
   * The dependents that must be ready before this one is applied. If one of them is not wanted, this one is not wanted
   * either. Clean-up runs in the opposite order.
   */
  readonly dependsOn?: readonly Dependent<Primary, AnyKind>[] | undefined
  /** Whether the live object is ready. @default {@link isReady} */
  ready?(live: Infer<K>, primary: Primary): boolean
}

/** An object that an operator keeps for each object of its own kind. Created by {@link dependent}. */
export interface Dependent<in Primary, out K extends AnyKind> {
  readonly name: string
  readonly kind: K
  readonly dependsOn: readonly Dependent<Primary, AnyKind>[]
  readonly desired: (primary: Primary, context: DependentContext) => object | Promise<object>
  readonly when: (primary: Primary) => boolean
  readonly ready: (live: KubeObject, primary: Primary) => boolean
}

/**
 * Declares a dependent object, for `defineDependents`. The name appears in the conditions of the primary object and in
 * the label {@link dependentLabel} of the dependent object. It must not change between versions of an operator: objects
 * with an unknown name are deleted.
 *
 * @example
 * const database = dependent('database', StatefulSet, { desired: (shop: Shop) => StatefulSet({ … }) })
 * const web = dependent('web', Deployment, { dependsOn: [database], desired: (shop: Shop) => Deployment({ … }) })
 */
export function dependent<Primary, K extends AnyKind>(
  name: string,
  kind: K,
  options: DependentOptions<Primary, K>,
): Dependent<Primary, K> {
  const [problem] = isDNS1123Label(name)
  if (problem !== undefined)
    throw new RangeError(`Cannot define dependent "${name}" as its name is invalid: ${problem}`)
  return Object.freeze({
    name,
    kind,
    dependsOn: Object.freeze([...(options.dependsOn ?? [])]),
    desired: (primary: Primary, context: DependentContext) => options.desired(primary, context),
    when: (primary: Primary) => options.when?.(primary) ?? true,
    ready: (live: KubeObject, primary: Primary) =>
      options.ready ? options.ready(live as Infer<K>, primary) : isReady(live),
  })
}

/** The label of dependent objects. Its value is the name of the dependent. */
export const dependentLabel = 'kubewright.dev/dependent'
