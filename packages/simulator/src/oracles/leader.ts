import { requestText } from '../define/request-facts.ts'
import { defineOracle, type ObservingOracle } from './define-oracle.ts'

export const leader: ObservingOracle = defineOracle({
  name: 'leader',
  property: 'a replica that does not lead sends no writes',
  needs: 'run',
  observe({ schedule, setup }, report) {
    if (schedule.replicas === 1 || !setup.operator.onlyLeaderWrites) return {}
    let holder = ''
    return {
      answered({ request, status, object }) {
        if (request.plural !== 'leases' || status >= 300) return
        holder = (object as { spec?: { holderIdentity?: string | undefined } | undefined }).spec?.holderIdentity ?? ''
      },
      sent({ request, replica, identity }) {
        if (holder === '' || holder === identity) return
        report(`Replica ${replica} sent "${requestText(request)}" although ${holder} leads`)
      },
    }
  },
})
