import { describe, expect, test } from 'vitest'
import { podTable as pods } from './pod-table.ts'

const now = Date.UTC(2024, 0, 1, 1)

interface PodParts {
  metadata?: object
  spec?: object
  status?: object
}

const pod = ({ metadata, spec, status }: PodParts): Parameters<typeof pods.row>[0] => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', creationTimestamp: '2024-01-01T00:00:00Z', ...metadata },
  spec: { containers: [{ name: 'a' }, { name: 'b' }], ...spec },
  status: { phase: 'Pending', ...status },
})
/** Ready, status and restarts. */
const summary = (parts: PodParts): unknown => pods.row(pod(parts), now).slice(1, 4)

const running = { state: { running: {} }, ready: true }
const terminated = (fields: object): object => ({ state: { terminated: fields } })
const restarted = (count: number, finishedAt: string): object => ({
  restartCount: count,
  lastState: { terminated: { exitCode: 1, finishedAt } },
})
const sidecars = { initContainers: [{ name: 's', restartPolicy: 'Always' }, { name: 'i' }] }

describe('podTable', () => {
  test.each<[string, PodParts, [string, string, string]]>([
    ['the phase', {}, ['0/2', 'Pending', '0']],
    ['the reason in the status', { status: { reason: 'Evicted', phase: 'Failed' } }, ['0/2', 'Evicted', '0']],
    [
      'scheduling gates',
      { status: { conditions: [{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' }] } },
      ['0/2', 'SchedulingGated', '0'],
    ],
    [
      'running containers',
      { status: { phase: 'Running', containerStatuses: [running, running] } },
      ['2/2', 'Running', '0'],
    ],
    [
      'the waiting reason of the first container',
      {
        status: {
          containerStatuses: [
            { state: { waiting: { reason: 'ImagePullBackOff' } } },
            { state: { waiting: { reason: 'ErrImagePull' } } },
          ],
        },
      },
      ['0/2', 'ImagePullBackOff', '0'],
    ],
    ['an exit code', { status: { containerStatuses: [terminated({ exitCode: 3 })] } }, ['0/2', 'ExitCode:3', '0']],
    ['a signal', { status: { containerStatuses: [terminated({ exitCode: 1, signal: 9 })] } }, ['0/2', 'Signal:9', '0']],
    [
      'a completed container beside a running one of a ready pod',
      {
        status: {
          conditions: [{ type: 'Ready', status: 'True' }],
          containerStatuses: [terminated({ exitCode: 0, reason: 'Completed' }), running],
        },
      },
      ['1/2', 'Running', '0'],
    ],
    [
      'a completed container beside a running one of a pod that is not ready',
      { status: { containerStatuses: [terminated({ exitCode: 0, reason: 'Completed' }), running] } },
      ['1/2', 'NotReady', '0'],
    ],
    [
      'a completed container beside a failed one',
      {
        status: {
          containerStatuses: [
            terminated({ exitCode: 0, reason: 'Completed' }),
            terminated({ exitCode: 2, reason: 'OOMKilled' }),
          ],
        },
      },
      ['0/2', 'OOMKilled', '0'],
    ],
    [
      'restarts with the time since the last one',
      {
        status: {
          phase: 'Running',
          containerStatuses: [
            { ...running, ...restarted(2, '2024-01-01T00:55:00Z') },
            { ...running, ...restarted(3, '2024-01-01T00:10:00Z') },
          ],
        },
      },
      ['2/2', 'Running', '5 (5m ago)'],
    ],
    [
      'restarts without a time',
      { status: { phase: 'Running', containerStatuses: [{ ...running, restartCount: 4 }] } },
      ['1/2', 'Running', '4'],
    ],
    [
      'the progress of initialization',
      {
        spec: { initContainers: [{ name: 'x' }, { name: 'y' }] },
        status: {
          initContainerStatuses: [
            { name: 'x', ...terminated({ exitCode: 0 }) },
            { name: 'y', state: {} },
          ],
        },
      },
      ['0/2', 'Init:1/2', '0'],
    ],
    [
      'the waiting reason and restarts of an init container',
      {
        spec: { initContainers: [{ name: 'x' }] },
        status: {
          initContainerStatuses: [
            {
              name: 'x',
              state: { waiting: { reason: 'CrashLoopBackOff' } },
              ...restarted(2, '2024-01-01T00:59:00Z'),
            },
          ],
          containerStatuses: [{ state: { waiting: { reason: 'PodInitializing' } } }],
        },
      },
      ['0/2', 'Init:CrashLoopBackOff', '2 (60s ago)'],
    ],
    [
      'an init container that failed',
      {
        spec: { initContainers: [{ name: 'x' }] },
        status: { initContainerStatuses: [{ name: 'x', ...terminated({ exitCode: 7 }) }] },
      },
      ['0/2', 'Init:ExitCode:7', '0'],
    ],
    [
      'the containers of a pod with the condition Initialized and an unfinished init container',
      {
        spec: { initContainers: [{ name: 'x' }] },
        status: {
          phase: 'Running',
          conditions: [{ type: 'Initialized', status: 'True' }],
          initContainerStatuses: [{ name: 'x', restartCount: 9, state: {} }],
          containerStatuses: [running, running],
        },
      },
      ['2/2', 'Init:0/1', '0'],
    ],
    [
      'sidecars and their restarts',
      {
        spec: sidecars,
        status: {
          phase: 'Running',
          initContainerStatuses: [
            { name: 's', started: true, ...running, ...restarted(1, '2024-01-01T00:30:00Z') },
            { name: 'i', restartCount: 5, ...terminated({ exitCode: 0 }) },
          ],
          containerStatuses: [running, running],
        },
      },
      ['3/3', 'Running', '1 (30m ago)'],
    ],
    [
      'deletion',
      { metadata: { deletionTimestamp: '2024-01-01T00:30:00Z' }, status: { phase: 'Running' } },
      ['0/2', 'Terminating', '0'],
    ],
    [
      'the phase of a deleted pod that has terminated',
      { metadata: { deletionTimestamp: '2024-01-01T00:30:00Z' }, status: { phase: 'Succeeded' } },
      ['0/2', 'Succeeded', '0'],
    ],
    [
      'Unknown for a deleted pod on a lost node',
      { metadata: { deletionTimestamp: '2024-01-01T00:30:00Z' }, status: { reason: 'NodeLost' } },
      ['0/2', 'Unknown', '0'],
    ],
  ])('shows %s', (_, parts, expected) => {
    expect(summary(parts)).toEqual(expected)
  })

  test('shows node, address and readiness gates in wide output', () => {
    const parts = {
      spec: { nodeName: 'n1', readinessGates: [{ conditionType: 'g1' }, { conditionType: 'g2' }] },
      status: { podIPs: [{ ip: '10.0.0.1' }], conditions: [{ type: 'g2', status: 'True' }], nominatedNodeName: 'n2' },
    }
    expect(pods.row(pod(parts), now).slice(4)).toEqual(['60m', '10.0.0.1', 'n1', 'n2', '1/2'])
    expect(pods.row(pod({}), now).slice(4)).toEqual(['60m', '<none>', '<none>', '<none>', '<none>'])
  })

  test('adds the condition Completed to rows of terminated pods', () => {
    const conditions = (phase: string): unknown => pods.conditions?.(pod({ status: { phase } }))
    expect(conditions('Running')).toBeUndefined()
    expect(conditions('Succeeded')).toMatchObject([{ type: 'Completed', status: 'True', reason: 'Succeeded' }])
    expect(conditions('Failed')).toMatchObject([{ message: 'The pod failed.' }])
  })
})
