import { isApiError } from '@kubewright/api'
import { deepCopy } from '@kubewright/base'
import { defaultRelease } from '@kubewright/k8s/releases'
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { goTypeOfKind } from '../../codec/go-declarations.ts'
import { defaultServedRelease } from '../../codec/served-release.ts'
import type { MutableObject } from '../../resource/object.ts'
import type { Strategy, StrategyContext } from '../../resource/strategy.ts'
import { arbitraryGoValue } from '../../testdata/arbitrary-go-value.ts'
import { startCoreServer } from '../../testdata/core-server.ts'
import { workingTyped } from '../typed/decode-typed.ts'

const server = await startCoreServer()
afterAll(() => server[Symbol.asyncDispose]())
const core = server.server.parts.resources
  .all()
  .filter(({ kind }) => ['', 'events.k8s.io'].includes(kind.group) && kind.version === 'v1')
const strategies = core.flatMap((resource) => {
  const { group, plural } = resource.kind
  const kind = defaultRelease.kindFor({ group, version: 'v1', kind: resource.kind.kind })!
  const all = [
    ['', resource.strategy] as const,
    ...Object.entries(resource.subresources).map(([name, sub]) => [name, sub.strategy] as const),
  ]
  return all
    .filter((entry): entry is readonly [string, Strategy] => entry[1] !== undefined)
    .map(([name, strategy]) => [`${group}/${plural} ${name}`, kind, strategy] as const)
})

test.each(strategies)(
  'the strategy of %s accepts or rejects any object without throwing',
  async (_, kind, strategy) => {
    const type = goTypeOfKind(kind.group, 'v1', kind.kind)
    const context = { now: 0, namespace: 'a', subresource: '', dryRun: true, request: { warn: () => undefined } }
    await fc.assert(
      fc.asyncProperty(fc.gen(), async (draw) => {
        const make = (): MutableObject => {
          const object = arbitraryGoValue(type, draw) as MutableObject
          object.apiVersion = kind.apiVersion
          object.kind = kind.kind
          object.metadata = { ...object.metadata, name: 'x' }
          const normal = workingTyped(defaultServedRelease, kind, object)
          strategy.setDefaults?.(normal)
          return workingTyped(defaultServedRelease, kind, normal)
        }
        const old = make()
        const next = make()
        // Half of the fields are unchanged, so that the checks after the first difference run too.
        if (draw(fc.boolean)) next['spec'] = deepCopy(old['spec'])
        try {
          await run(strategy, next, old, context as unknown as StrategyContext)
        } catch (error) {
          if (!isApiError(error)) throw error
        }
      }),
      { numRuns: 60 },
    )
  },
)

/** What the registry calls for an update and a create. */
async function run(
  strategy: Strategy,
  next: MutableObject,
  old: MutableObject,
  context: StrategyContext,
): Promise<void> {
  await strategy.beginUpdate?.(next, old, context)
  strategy.prepareForUpdate?.(next, old, context)
  const errors = (await strategy.validateUpdate?.(next, old, context)) ?? []
  for (const error of errors) expect(error.toString()).toContain(':')
  for (const text of strategy.warningsOnUpdate?.(next, old) ?? []) expect(text).not.toBe('')
  strategy.gracePeriod?.(old, undefined)
  await strategy.beginCreate?.(next, context)
  strategy.prepareForCreate?.(next, context)
  for (const error of (await strategy.validate?.(next, context)) ?? []) expect(error.toString()).toContain(':')
  for (const text of strategy.warningsOnCreate?.(next) ?? []) expect(text).not.toBe('')
}
