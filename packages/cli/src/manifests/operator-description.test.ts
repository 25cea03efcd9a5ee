import { defineResource } from '@kubewright/api'
import { defineController, defineOperator, defineWebhook, watch } from '@kubewright/runtime'
import { s } from '@kubewright/schema'
import { describe, expect, test } from 'vitest'
import { describeOperator, hasWebhooks, ownNamespace } from './operator-description.ts'

const kind = (name: string, group = 'ajd.example.com') =>
  defineResource({ group, version: 'v1', kind: name, spec: s.object({}), status: s.object({}) })
const Home = kind('Home')
const Room = kind('Room')
const Certificate = kind('Certificate', 'cert-manager.io')

const operator = defineOperator({
  name: 'home',
  controllers: [
    defineController(Home, {
      owns: [Room, Certificate],
      watches: [watch(Certificate, () => [])],
      reconcile: () => undefined,
    }),
  ],
  webhooks: [defineWebhook(Home, { default: () => undefined })],
})

describe('describeOperator()', () => {
  test('excludes CRDs of other groups', () => {
    const names = (externalGroups: readonly string[] = []) =>
      describeOperator(operator, { externalGroups }).resources.map(({ crd }) => crd.metadata.name)
    expect(names()).toEqual(['homes.ajd.example.com', 'rooms.ajd.example.com'])
    expect(names(['ajd.example.com'])).toEqual([])
  })

  test('is plain data', () => {
    const described = describeOperator(operator)
    expect(JSON.parse(JSON.stringify(described))).toEqual(described)
    expect(hasWebhooks(described)).toBe(true)
    expect(described.mutating).toMatchObject([{ name: 'mhome-v1.kb.io', path: '/mutate-ajd-example-com-v1-home' }])
  })

  test('enables leader election unless replicas share the work', () => {
    expect(describeOperator(operator).access.own).toMatchObject([{ resources: ['leases'] }])
    const sharing = describeOperator(defineOperator({ ...operator, sharding: true }))
    expect(sharing.leaderElection).toBe(false)
  })

  test('requests permissions only in its own namespace if it watches no other', () => {
    const { namespaces, access } = describeOperator(operator, { namespaced: true })
    expect(namespaces).toEqual([ownNamespace])
    expect(access.cluster).toEqual([])
    expect(access.watched.flatMap(({ resources = [] }) => resources)).toContain('homes')
  })
})
