import { defineOracle, type ObservingOracle } from './define-oracle.ts'

export const admission: ObservingOracle = defineOracle({
  name: 'admission',
  property:
    'a value that the server, a rule or a webhook refuses at creation is refused as a change too; webhooks do not fail',
  needs: 'run',
  observe: ({ schedule }, report) => ({
    attempted({ verb, object, status, message, refusal, webhooksAreDown }) {
      if (status < 300) {
        if (refusal === undefined || webhooksAreDown) return
        report(`A change of ${object} is accepted`, [`the creation of such an object is refused: ${refusal}`])
        return
      }
      // Without faults, the server answers so only if a webhook fails.
      if (status >= 500 && schedule.faults.length === 0) report(`The user cannot ${verb} ${object}: ${message}`)
    },
  }),
})
