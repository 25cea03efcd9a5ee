import type { AnyKind } from '@kubewright/api'
import { AsyncQueue, nullLogger, VirtualClock } from '@kubewright/base'
import type { Client } from '@kubewright/client'
import { describe, expect, test } from 'vitest'
import { watchTargets } from './watch-targets.ts'

describe('watchTargets()', () => {
  test('watches each object by name, and reopens failed watches with back-off', async () => {
    const clock = new VirtualClock()
    const stop = new AbortController()
    const opened: string[] = []
    let events: AsyncQueue<object> | undefined
    let changes = 0
    const client = {
      watch: async (kind: AnyKind, { fields }: { fields: Record<string, string> }) => {
        opened.push(`${clock.monotonic()} ${kind.kind} ${fields['metadata.name']}`)
        if (kind.kind !== 'MutatingWebhookConfiguration') throw new Error('forbidden')
        events = new AsyncQueue<object>()
        return events
      },
    } as unknown as Pick<Client, 'watch'>
    const targets = { mutating: ['m'], crds: ['c'] }
    const options = { clock, log: nullLogger, signal: stop.signal, onChange: () => void changes++ }
    const watching = watchTargets(client, targets, options)
    await clock.advance(7000)
    expect(opened).toEqual([
      '0 MutatingWebhookConfiguration m',
      '0 CustomResourceDefinition c',
      '1000 CustomResourceDefinition c',
      '3000 CustomResourceDefinition c',
      '7000 CustomResourceDefinition c',
    ])
    events!.push({ type: 'ADDED' })
    await clock.advance(0)
    expect(changes).toBe(1)
    events!.close()
    await clock.advance(1000)
    expect(opened.at(-1)).toBe('8000 MutatingWebhookConfiguration m')
    stop.abort(new Error('enough'))
    events!.close()
    await watching
  })
})
