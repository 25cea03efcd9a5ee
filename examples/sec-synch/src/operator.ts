import { defineOperator } from 'kubewright'
import { secSynchController } from './sec-synch.controller.ts'

export const operator = defineOperator({
  name: 'sec-synch-operator',
  controllers: [secSynchController],
  leaderElection: true,
})
