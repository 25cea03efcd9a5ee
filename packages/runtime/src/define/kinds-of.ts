import type { AnyKind } from '@kubewright/api'
import type { KeyController } from '../controller/key-controller.ts'
import type { Controller } from './define-controller.ts'
import type { Operator } from './define-operator.ts'

/** The parts of an operator that name kinds. */
export type OperatorKinds = Pick<Operator, 'kinds' | 'controllers' | 'webhooks' | 'conversions'>

/** All kinds that the parts of an operator name, built-in ones included. May contain duplicates. */
export function kindsOf(operator: OperatorKinds): AnyKind[] {
  const named: (AnyKind | undefined)[] = [...operator.kinds]
  for (const controller of operator.controllers) {
    named.push(controller.kind)
    if (isKeyController(controller)) continue
    for (const { kind } of [...controller.owns, ...controller.watches]) named.push(kind)
  }
  for (const { kind } of operator.webhooks) named.push(kind)
  for (const { hub } of operator.conversions) named.push(hub)
  return named.filter((kind) => kind !== undefined)
}

/** Whether a controller receives keys instead of objects. */
export function isKeyController(controller: Controller | KeyController): controller is KeyController {
  return 'start' in controller
}
