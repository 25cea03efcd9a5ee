import { defineBudget } from '@kubewright/base'
/**
 * The maximum number of warnings about pairs of ports or of paths. A response shows 4,096 characters of warnings, so it never has room
 * for more.
 */
export const maxPodWarnings: number = defineBudget(4096, {
  group: 'server',
  what: 'warnings about pairs of ports, and about pairs of paths of a volume, of a pod',
  shown: '{} each',
  answer: 'further warnings are left out',
  kubernetes: 'no limit',
})
