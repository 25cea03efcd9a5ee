import { defineOperator } from 'kubewright'
import { appServiceController } from './app-service.controller.ts'

export const operator = defineOperator({
  name: 'app-service-operator',
  controllers: [appServiceController],
  leaderElection: true,
})
