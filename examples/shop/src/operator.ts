import { defineOperator } from 'kubewright'
import { shopController } from './shop.controller.ts'

export const operator = defineOperator({
  name: 'shop-operator',
  controllers: [shopController],
  leaderElection: true,
})
