import { describe, expect, it } from 'vitest'
import { UsageError } from '../usage-error.ts'
import { parseUpOptions } from './up-options.ts'

describe('parseUpOptions()', () => {
  it('has defaults for everything', () => {
    expect(parseUpOptions([])).toEqual({
      port: 6443,
      backend: { kind: 'durable', folder: '.kubewright/data' },
      kubeconfig: '.kubewright/kubeconfig',
      controllers: 'all',
      nodes: 0,
      verbose: false,
    })
  })

  it('reads every option', () => {
    const args =
      '--port=0 --etcd http://a:1,http://b:2 --kubeconfig k --controllers a,b --token t --client-ca c --nodes 3 -v ' +
      '--enable-admission-plugins A,B'
    expect(parseUpOptions(args.split(' '))).toEqual({
      port: 0,
      backend: { kind: 'etcd', endpoints: ['http://a:1', 'http://b:2'] },
      kubeconfig: 'k',
      controllers: ['a', 'b'],
      nodes: 3,
      token: 't',
      clientCa: 'c',
      admissionPlugins: ['A', 'B'],
      verbose: true,
    })
    expect(parseUpOptions(['--memory']).backend).toEqual({ kind: 'memory' })
    expect(parseUpOptions(['--data', 'd']).backend).toEqual({ kind: 'durable', folder: 'd' })
  })

  it.each([
    ['--prot 1', 'unknown option --prot: did you mean --port?'],
    ['extra', 'unexpected argument "extra"'],
    ['--port', '--port needs a value'],
    ['--port x', '--port needs a number from 0 to 65535, not "x"'],
    ['--port 65536', '--port needs a number from 0 to 65535, not "65536"'],
    ['--memory --data d', '--data and --memory exclude each other'],
    ['--memory --etcd http://a', '--memory and --etcd exclude each other'],
    ['--etcd localhost:2379', '--etcd needs addresses such as http://127.0.0.1:2379, not "localhost:2379"'],
    ['--data=', '--data needs the name of a folder'],
    ['--token=', '--token needs printable ASCII without spaces'],
    ['--controllers a,,b', '--controllers needs all, none or a list of names'],
    ['--enable-admission-plugins A,', '--enable-admission-plugins needs a list of names'],
    ['--nodes -1', '--nodes needs a value; one that begins with a dash as --nodes=VALUE'],
  ])('refuses %s', (args, message) => {
    const parse = (): unknown => parseUpOptions(args.split(' '))
    expect(parse).toThrow(UsageError)
    expect(parse).toThrow(message)
  })
})
