import { defineFault, type FaultDefinition, seconds } from '../define/define-fault.ts'

type Forbidden = { readonly kind: 'forbidden'; readonly at: number; readonly for: number }

export const forbidden: FaultDefinition<Forbidden> = defineFault<Forbidden>({
  kind: 'forbidden',
  class: 'permissions',
  summary: 'the server refuses requests for a resource, because a role was removed for a while',
  points: (at) => [{ kind: 'forbidden', at, for: 10_000 }],
  duration: (fault) => fault.for,
  describe: (fault, action) =>
    `the operator lacks the permissions for this resource for ${seconds(fault.for)}, from ${action} on`,
  inject(fault, { network, request }) {
    network.refuse(fault.for, ({ isWork, verb, plural, group, name, namespace }) => {
      if (!isWork || plural !== request?.plural) return undefined
      const message = `${plural} "${name}" is forbidden: User "operator" cannot ${verb} resource "${plural}" in API group "${group}" in the namespace "${namespace}"`
      return { status: 403, message }
    })
  },
})
