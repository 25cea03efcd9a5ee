import { parseFlags } from '@kubewright/base'
import { expect, test } from 'vitest'
import { planeConfig } from '../up/plane-config.ts'
import { devFlags } from './dev-command.ts'

test('devFlags default to one node, a free port and memory', async () => {
  const { values } = parseFlags(devFlags, [])
  expect(await planeConfig(values, { kind: 'memory' }, { env: {} })).toEqual({
    store: { kind: 'memory' },
    history: { bytes: 64 * 1024 * 1024 },
    limits: { body: { bytes: 3 * 1024 * 1024, values: 100_000 }, watchesPerUser: 5000 },
    controllers: 'all',
    nodes: { nodes: 1, heartbeat: '10s' },
    access: { tokens: [], clientCas: [] },
    admissionPlugins: ['OwnerReferencesPermissionEnforcement'],
    disabledAdmissionPlugins: [],
    serving: { port: 0, limits: { headerBytes: 65_535, streamsPerConnection: 100 } },
  })
  expect(values).toMatchObject({ watch: [], once: false, kubeconfig: '.kubewright/kubeconfig', verbose: false })
})

test('devFlags accept several folders to watch', () => {
  const args = 'src/x.ts --once --watch a --watch=b --data d --nodes 3 -- --log-level debug --once'
  expect(parseFlags(devFlags, args.split(' '))).toMatchObject({
    values: { once: true, watch: ['a', 'b'], data: 'd', nodes: 3 },
    operands: ['src/x.ts'],
    rest: ['--log-level', 'debug', '--once'],
  })
})

test('devFlags accept --inspect with and without a port', () => {
  const inspect = (...args: string[]): unknown => parseFlags(devFlags, args).values.inspect
  expect(inspect()).toBeUndefined()
  expect(inspect('--inspect', 'src/x.ts')).toBe(9229)
  expect(inspect('--inspect=9230')).toBe(9230)
})
