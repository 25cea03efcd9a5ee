import type { Answer } from '../define/observer.ts'
import { isWrite, requestText } from '../define/request-facts.ts'
import { defineOracle, type ObservingOracle } from './define-oracle.ts'

export const rights: ObservingOracle = defineOracle({
  name: 'rights',
  property: 'requests are within the derived roles',
  needs: 'run',
  observe: (_, report) => ({
    answered(answer) {
      const message = refusalOf(answer)
      if (/cannot \w+ resource "/.test(message)) report(`The operator lacks a permission: ${message}`)
    },
  }),
})

export const ownWebhooks: ObservingOracle = defineOracle({
  name: 'own webhooks',
  property: "the operator's webhooks do not refuse its own writes",
  needs: 'run',
  observe: (_, report) => ({
    answered(answer) {
      const message = refusalOf(answer)
      if (!isWrite(answer.request) || !/admission webhook "[^"]+" denied the request/.test(message)) return
      report(`The operator's own webhook refused "${requestText(answer.request)}": ${message}`)
    },
  }),
})

const refusals = new Set([400, 403, 422, 500])
const background = new Set(['leases', 'events'])

/** The message of a refusal for which no fault is responsible; empty for other answers. */
function refusalOf({ request, status, object, isDisturbed }: Answer): string {
  // A webhook that cannot read what it needs must refuse the write.
  if (!refusals.has(status) || isDisturbed || (isWrite(request) && background.has(request.plural))) return ''
  return (object as { message?: string | undefined }).message ?? ''
}
