import { describe, expect, it } from 'vitest'
import { planeFlags, upHelp } from '../up/up-options.ts'
import { UsageError } from '../usage-error.ts'
import { devHelp, parseDevOptions } from './dev-options.ts'

it('devHelp and upHelp name all flags of the control plane', () => {
  const named = (help: string): string[] => [...help.matchAll(/^ {2}(?:-\w, )?--([a-z-]+)/gm)].map(([, name]) => name!)
  // Memory is what dev has by default.
  expect(named(devHelp)).toEqual(expect.arrayContaining(Object.keys(planeFlags).filter((name) => name !== 'memory')))
  expect(named(upHelp).sort()).toEqual(Object.keys(planeFlags).sort())
})

describe('parseDevOptions()', () => {
  it('has defaults for everything: a node, a free port, and memory', () => {
    expect(parseDevOptions([])).toEqual({
      entry: undefined,
      plane: {
        port: 0,
        backend: { kind: 'memory' },
        kubeconfig: '.kubewright/kubeconfig',
        controllers: 'all',
        nodes: 1,
        verbose: false,
      },
      watch: [],
      once: false,
      flags: [],
    })
  })

  it('reads an entry, folders to watch and the flags of the operator', () => {
    const args = 'src/x.ts --once --watch a --watch=b --data d --nodes 3 -- --log-level debug --once'
    expect(parseDevOptions(args.split(' '))).toMatchObject({
      entry: 'src/x.ts',
      once: true,
      watch: ['a', 'b'],
      plane: { backend: { kind: 'durable', folder: 'd' }, nodes: 3 },
      flags: ['--log-level', 'debug', '--once'],
    })
  })

  it.each([
    ['a b', 'one module is enough: what is "b"?'],
    ['--prot 1', 'unknown option --prot: did you mean --port?'],
    ['--data a --memory', '--data and --memory exclude each other'],
  ])('refuses %s', (args, message) => {
    const parse = (): unknown => parseDevOptions(args.split(' '))
    expect(parse).toThrow(UsageError)
    expect(parse).toThrow(message)
  })
})
