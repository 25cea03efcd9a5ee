import { VirtualClock } from '@kubewright/base'
import type { ReconcileRecord } from '@kubewright/runtime'
import { describe, expect, it } from 'vitest'
import { painted } from '../terminal/colors.ts'
import { Story, type StoryOptions } from './activity-log.ts'

function telling(terminal: StoryOptions['terminal'] = undefined): { lines: string[]; story: Story } {
  const lines: string[] = []
  const write = (line: string): void => void lines.push(line.replace(/^\d\d:\d\d:\d\d /, ''))
  return { lines, story: new Story({ write, clock: new VirtualClock(), terminal, project: '/project' }) }
}

const record: ReconcileRecord = {
  controller: 'home',
  key: 'default/cosy',
  reconcileID: 'id',
  causes: [{ event: 'requeue', count: 1 }],
  startedAt: 0,
  durationMillis: 12,
  result: 'success',
}

function failure(message: string): Error {
  const error = new Error(message)
  error.stack = `Error: ${message}\n    at reconcile (/project/src/home.ts:3:9)\n    at run (node:internal/x:1:1)`
  return error
}

describe('Story', () => {
  it('tells reconciles with their causes', () => {
    const { lines, story } = telling()
    story.reconciled(record)
    expect(lines).toEqual(['home/cosy  reconciled in 12 ms  because it asked for it'])
  })

  it('shows where an error is from, once for as long as it stays the same', () => {
    const { lines, story } = telling()
    const failed = { ...record, result: 'error' as const, error: failure('no'), causes: [] }
    story.reconciled({ ...failed, requeueAfterMillis: 5 })
    story.reconciled({ ...failed, requeueAfterMillis: 10 })
    story.reconciled({ ...failed, requeueAfterMillis: 2000 })
    story.reconciled({ ...failed, error: failure('never'), requeueAfterMillis: 4000 })
    expect(lines).toEqual([
      'home/cosy  failed after 12 ms, again in 5ms',
      '         no',
      '           at reconcile (src/home.ts:3:9)',
      'home/cosy  failed after 12 ms, again in 2s: the same for the 3rd time',
      'home/cosy  failed after 12 ms, again in 4s',
      '         never',
      '           at reconcile (src/home.ts:3:9)',
    ])
  })

  it('tells what webhooks refuse and warn of', () => {
    const { lines, story } = telling()
    const about = { kind: 'Home', namespace: 'team', name: 'shed', user: 'jane' }
    story.reviewed({ ...about, result: 'denied', operation: 'CREATE', message: 'is bad' })
    story.reviewed({ ...about, result: 'warned', operation: 'UPDATE', message: 'is small' })
    expect(lines).toEqual([
      'home/shed in team  create denied by webhook, to jane: is bad',
      'home/shed in team  update warned of by webhook, to jane: is small',
    ])
  })

  it('shows the lines of a log, but not what it tells itself, and text as it is', () => {
    const { lines, story } = telling()
    const about = {
      level: 'info',
      ts: 'now',
      controller: 'home',
      Home: { name: 'cosy' },
      namespace: 'default',
      name: 'cosy',
    }
    story.log(JSON.stringify({ ...about, msg: 'looking', reconcileID: 'x', image: 'nginx', size: 3 }))
    story.log(JSON.stringify({ ...about, msg: 'Reconcile done' }))
    story.log(JSON.stringify({ level: 'error', msg: 'Problem', error: 'no cluster' }))
    story.log('Warning: from elsewhere')
    expect(lines).toEqual([
      'home/cosy  looking image=nginx size=3',
      'operator  Problem',
      '         no cluster',
      'Warning: from elsewhere',
    ])
  })

  it('paints where it may', () => {
    const { lines, story } = telling({ paint: painted, columns: undefined })
    story.tell('homes', 'runs')
    expect(lines).toEqual([expect.stringContaining('\u001B[36mhomes\u001B[0m  runs')])
  })
})
