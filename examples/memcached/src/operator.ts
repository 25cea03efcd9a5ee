import { defineOperator } from 'kubewright'
import { memcachedController } from './memcached.controller.ts'

export const operator = defineOperator({ name: 'memcached-operator', controllers: [memcachedController] })
