import { defineOracle, type RunOracle } from './define-oracle.ts'

const hotRequests = 3000

export const hotLoop: RunOracle = defineOracle({
  name: 'hot loop',
  property:
    'at most 3,000 requests in a schedule (`maxRequests`) and within 10 minutes at rest, 300 changes of one object in a minute (a tenth of `maxRequests`), and fewer than 60 reconciles of one object in 50 seconds',
  needs: 'run',
  isCostly: true,
  observe: (_, report) => ({ looped: (what) => report(`The operator ${what}`) }),
  check({ busiestKey, requestsAtRest }, report) {
    if (busiestKey !== undefined) {
      report(`The operator reconciles ${busiestKey} all the time although nothing changes`)
    }
    if (requestsAtRest > hotRequests) {
      report(`The operator sent ${requestsAtRest} requests within ten minutes although nothing had changed`)
    }
  },
})
