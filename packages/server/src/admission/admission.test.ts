import { expect, test } from 'vitest'
import type { Resource } from '../resource/resource.ts'
import { type AdmissionAttributes, AdmissionChain, type AdmissionPlugin } from './admission.ts'

const resourceOf = (group: string, plural: string): Resource => ({ kind: { group, plural } }) as Resource
const attributesOf = (resource: Resource): AdmissionAttributes =>
  ({ resource, object: { metadata: {} } }) as unknown as AdmissionAttributes

/** Plugins that note their calls. Every other one waits. */
function notingPlugins(calls: string[]): AdmissionPlugin[] {
  const note = (call: string, waits: boolean): Promise<void> | void => {
    calls.push(call)
    return waits ? Promise.resolve().then(() => void calls.push(`${call} done`)) : undefined
  }
  return [
    { name: 'pods', resources: ['/pods'], mutate: () => note('pods', false), validate: () => note('pods?', true) },
    { name: 'late', mutate: () => note('late', true), validate: () => note('late?', true) },
    { name: 'all', mutate: () => note('all', false), validate: () => note('all?', false) },
  ]
}

test('AdmissionChain calls plugins for their resources, and each after the one before it has ended', async () => {
  const calls: string[] = []
  const chain = new AdmissionChain(notingPlugins(calls))
  await chain.mutate(attributesOf(resourceOf('', 'pods')))
  await chain.validate(attributesOf(resourceOf('', 'pods')))
  expect(calls).toEqual(['pods', 'late', 'late done', 'all', 'pods?', 'pods? done', 'late?', 'late? done', 'all?'])
  calls.length = 0
  await chain.mutate(attributesOf(resourceOf('metrics.k8s.io', 'pods')))
  expect(calls).toEqual(['late', 'late done', 'all'])
})

test('AdmissionChain includes plugins that are added after its first run', async () => {
  const calls: string[] = []
  const plugins: AdmissionPlugin[] = []
  const chain = new AdmissionChain(plugins)
  const pods = resourceOf('', 'pods')
  await chain.mutate(attributesOf(pods))
  plugins.push(...notingPlugins(calls))
  await chain.mutate(attributesOf(pods))
  expect(calls).toEqual(['pods', 'late', 'late done', 'all'])
})

test('AdmissionChain runs the mutating plugins a second time if one requests it', async () => {
  const rounds: boolean[] = []
  const chain = new AdmissionChain([
    { name: 'a', mutate: (_, { isRepeat }) => void rounds.push(isRepeat) },
    { name: 'b', mutate: (_, { repeat }) => repeat() },
  ])
  await chain.mutate(attributesOf(resourceOf('', 'pods')))
  expect(rounds).toEqual([false, true])
})
