import { VirtualClock } from '@kubewright/base'
import type { ReconcileRecord } from '@kubewright/runtime'
import { describe, expect, test } from 'vitest'
import { painted } from '../terminal/colors.ts'
import { ActivityLog, type ActivityLogOptions } from './activity-log.ts'

function logTo(terminal: ActivityLogOptions['terminal'] = undefined): { lines: string[]; log: ActivityLog } {
  const lines: string[] = []
  const write = (line: string): void => void lines.push(line.replace(/^\d\d:\d\d:\d\d /, ''))
  return { lines, log: new ActivityLog({ write, clock: new VirtualClock(), terminal, project: '/project' }) }
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

describe('ActivityLog', () => {
  test('logs reconciles with their causes', () => {
    const { lines, log } = logTo()
    log.reconciled(record)
    expect(lines).toEqual(['home/cosy  reconciled in 12 ms  because it was requeued'])
  })

  test('shows the stack of an error once while it repeats', () => {
    const { lines, log } = logTo()
    const failed = { ...record, result: 'error' as const, error: failure('no'), causes: [] }
    log.reconciled({ ...failed, requeueAfterMillis: 5 })
    log.reconciled({ ...failed, requeueAfterMillis: 10 })
    log.reconciled({ ...failed, requeueAfterMillis: 2000 })
    log.reconciled({ ...failed, error: failure('never'), requeueAfterMillis: 4000 })
    expect(lines).toEqual([
      'home/cosy  failed after 12 ms, retry in 5ms',
      '         no',
      '           at reconcile (src/home.ts:3:9)',
      'home/cosy  failed after 12 ms, retry in 2s: the same error for the 3rd time',
      'home/cosy  failed after 12 ms, retry in 4s',
      '         never',
      '           at reconcile (src/home.ts:3:9)',
    ])
  })

  test('logs denials and warnings of webhooks', () => {
    const { lines, log } = logTo()
    const about = { kind: 'Home', namespace: 'team', name: 'shed', user: 'jane' }
    log.reviewed({ ...about, result: 'denied', operation: 'CREATE', message: 'is bad' })
    log.reviewed({ ...about, result: 'warned', operation: 'UPDATE', message: 'is small' })
    expect(lines).toEqual([
      'home/shed in team  create by jane denied by webhook: is bad',
      'home/shed in team  update by jane got a warning from webhook: is small',
    ])
  })

  test('shows log lines except those that it replaces, and other text unchanged', () => {
    const { lines, log } = logTo()
    const about = {
      level: 'info',
      ts: 'now',
      controller: 'home',
      Home: { name: 'cosy' },
      namespace: 'default',
      name: 'cosy',
    }
    log.record(JSON.stringify({ ...about, msg: 'looking', reconcileID: 'x', image: 'nginx', size: 3 }))
    log.record(JSON.stringify({ ...about, msg: 'Reconcile done' }))
    log.record(JSON.stringify({ level: 'error', msg: 'Problem', error: 'no cluster' }))
    log.record('Warning: from elsewhere')
    expect(lines).toEqual([
      'home/cosy  looking image=nginx size=3',
      'operator  Problem',
      '         no cluster',
      'Warning: from elsewhere',
    ])
  })

  test('uses colours if the terminal has them', () => {
    const { lines, log } = logTo({ paint: painted, columns: undefined })
    log.write('homes', 'runs')
    expect(lines).toEqual([expect.stringContaining('\u001B[36mhomes\u001B[0m  runs')])
  })
})
