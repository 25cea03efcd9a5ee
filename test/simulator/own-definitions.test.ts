// Faults and oracles of an author, with the public entry point only.
import { ConfigMap } from '@kubewright/k8s'
import { defineController, defineOperator, defineResource, s } from 'kubewright'
import { defineFault, defineOracle, explore } from 'kubewright/simulate'
import { describe, expect, test } from 'vitest'

const Note = defineResource({
  group: 'own.example.com',
  version: 'v1',
  kind: 'Note',
  spec: s.object({ text: s.string() }),
})
const samples = [Note({ metadata: { name: 'note' }, spec: { text: 'hello' } })]

/** Keeps a ConfigMap for each Note. With `givesUp`, an answer of 503 ends its attempts. */
const operatorThat = (givesUp: boolean) =>
  defineOperator({
    name: 'notes',
    controllers: [
      defineController(Note, {
        owns: [ConfigMap],
        async reconcile({ metadata: { name }, spec }, { apply }) {
          await apply(ConfigMap({ metadata: { name }, data: { text: spec.text } })).catch((error: unknown) => {
            if (!givesUp) throw error
          })
        },
      }),
    ],
  })

type Brownout = { readonly kind: 'brownout'; readonly at: number; readonly for: number }

const brownout = defineFault<Brownout>({
  kind: 'brownout',
  class: 'brownout',
  summary: 'the API server answers every request with 503',
  points: (at) => [{ kind: 'brownout', at, for: 10_000 }],
  duration: (fault) => fault.for,
  describe: (fault, action) => `the API server answers with 503 for ${fault.for} ms, from ${action} on`,
  inject: (fault, { network }) => network.refuse(fault.for, () => ({ status: 503 })),
})

describe('extraFaults', { timeout: 60_000 }, () => {
  const options = { samples, extraFaults: [brownout], faults: ['brownout'] }

  test('are injected, shrunk, told and replayed', async () => {
    const { failure } = await explore(operatorThat(true), { ...options, schedules: 40 })
    expect(failure).toMatchObject({ violation: { oracle: 'end state' }, faults: 1 })
    expect(failure?.story).toContain('Fault: the API server answers with 503 for 10000 ms, from patch configmaps')
    const again = await explore(operatorThat(true), { ...options, replay: failure?.id })
    expect(again.failure?.hash).toBe(failure?.hash)
    await expect(explore(operatorThat(true), { samples, replay: failure?.id })).rejects.toMatchObject({
      code: 'KW_SIMULATION_FAULT',
    })
  })

  test('do not fail an operator that tries again', async () => {
    const { failure, faults } = await explore(operatorThat(false), { ...options, schedules: 15 })
    expect(failure?.story).toBeUndefined()
    expect(faults['brownout']).toBeGreaterThan(0)
  })
})

describe('extraOracles', { timeout: 60_000 }, () => {
  const noteText = defineOracle({
    name: 'note text',
    property: 'the ConfigMap of a Note has no capital letters',
    needs: 'run',
    check({ objects }, report) {
      for (const object of objects) {
        if (object.kind === 'ConfigMap' && /[A-Z]/.test(JSON.stringify((object as ConfigMap).data))) {
          report(`ConfigMap ${object.metadata.name} has capital letters`)
        }
      }
    },
  })
  const fewPatches = defineOracle({
    name: 'few patches',
    property: 'the operator sends at most one patch',
    needs: 'run',
    observe(_, report) {
      let count = 0
      return {
        answered({ request }) {
          if (request.verb === 'patch' && ++count > 1) report('The operator sent a second patch')
        },
      }
    },
  })
  const reruns = defineOracle({
    name: 'reruns',
    property: 'the same schedule gives the same history',
    needs: 'rerun',
    async check({ run, rerun }, report) {
      const { hash } = await rerun(run.world.schedule)
      if (hash !== run.hash) report('The histories differ')
    },
  })

  test('report violations at the end of a run and during it, unless they are turned off', async () => {
    const loud = [Note({ metadata: { name: 'note' }, spec: { text: 'Hello' } })]
    const extraOracles = [noteText, fewPatches, reruns]
    const found = async (given: object[], without: string[] = []): Promise<string | undefined> =>
      (await explore(operatorThat(false), { samples: given, extraOracles, without, schedules: 4 })).failure?.violation
        .oracle
    expect(await found(loud)).toBe('note text')
    expect(await found(loud, ['note text'])).toBe('few patches')
    expect(await found(samples, ['few patches'])).toBeUndefined()
  })
})
