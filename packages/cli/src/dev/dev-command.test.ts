import { parseFlags } from '@kubewright/base'
import { expect, test } from 'vitest'
import { planeOptions } from '../up/plane-options.ts'
import { devFlags } from './dev-command.ts'

test('devFlags default to one node, a free port and memory', () => {
  const { values } = parseFlags(devFlags, [])
  expect(planeOptions(values, { kind: 'memory' })).toEqual({
    port: 0,
    backend: { kind: 'memory' },
    historyBytes: 64 * 1024 * 1024,
    kubeconfig: '.kubewright/kubeconfig',
    limits: {
      body: { bytes: 3 * 1024 * 1024, values: 250_000 },
      headerBytes: 65_535,
      streamsPerConnection: 100,
      watchesPerUser: 5000,
    },
    controllers: 'all',
    nodes: 1,
    verbose: false,
  })
  expect(values).toMatchObject({ watch: [], once: false })
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
