import { defineOperator } from 'kubewright'
import { cloudDns, type Dns } from './dns.ts'
import { homeController } from './home.controller.ts'
import { homeConversion } from './home.conversion.ts'
import { homeWebhook } from './home.webhook.ts'

export const homeOperator = (dns: Dns) =>
  defineOperator({
    name: 'home-operator',
    controllers: [homeController(dns)],
    webhooks: [homeWebhook],
    conversions: [homeConversion],
    leaderElection: true,
  })

export const operator = homeOperator(cloudDns())
