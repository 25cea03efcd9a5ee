import { fieldManagerMaxLength } from '@kubewright/api'

/**
 * The field manager of a controller: `<operator>/<controller>`. The operator's name is truncated when both do not fit.
 */
export function fieldManagerOf(operator: string, controller: string): string {
  return `${operator.slice(0, fieldManagerMaxLength - 1 - controller.length)}/${controller}`
}
