import { errorText } from '@kubewright/base'
import { userFrame } from '../world/host-guards.ts'
import { defineOracle, type ObservingOracle } from './define-oracle.ts'

export const errors: ObservingOracle = defineOracle({
  name: 'errors',
  property: 'no promise is rejected without a handler',
  needs: 'run',
  observe: (_, report) => ({
    rejected(reason) {
      const frame = reason instanceof Error ? userFrame(reason.stack ?? '') : undefined
      const message = `A promise of the operator was rejected, and nothing handled it: ${errorText(reason)}`
      report(message, frame === undefined ? [] : [frame])
    },
  }),
})
