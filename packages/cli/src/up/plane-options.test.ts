import { parseFlags, UsageError } from '@kubewright/base'
import { describe, expect, it } from 'vitest'
import { type PlaneOptions, planeOptions } from './plane-options.ts'
import { upFlags } from './up-command.ts'

const options = (args: string): PlaneOptions =>
  planeOptions(parseFlags(upFlags, args === '' ? [] : args.split(' ')).values, { kind: 'durable', folder: 'default' })

describe('planeOptions()', () => {
  it('has defaults for all options', () => {
    expect(options('')).toEqual({
      port: 6443,
      backend: { kind: 'durable', folder: 'default' },
      historyBytes: 64 * 1024 * 1024,
      limits: {
        body: { bytes: 3 * 1024 * 1024, values: 250_000 },
        headerBytes: 65_535,
        streamsPerConnection: 100,
        watchesPerUser: 5000,
      },
      kubeconfig: '.kubewright/kubeconfig',
      controllers: 'all',
      nodes: 0,
      verbose: false,
    })
  })

  it('reads every flag', () => {
    const args =
      '--port=0 --etcd http://a:1,http://b:2 --kubeconfig k --controllers a,b --token t --client-ca c --nodes 3 -v ' +
      '--enable-admission-plugins A,B --history-mib 2 --max-body-mib 1 ' +
      '--max-body-values 2000 --max-body-depth 100 --max-header-kib 16 --max-streams 7 --max-watches-per-user 8 --max-list-objects 9'
    expect(options(args)).toEqual({
      port: 0,
      backend: { kind: 'etcd', endpoints: ['http://a:1', 'http://b:2'] },
      historyBytes: 2 * 1024 * 1024,
      limits: {
        body: { bytes: 1024 * 1024, values: 2000, depth: 100 },
        headerBytes: 16_383,
        streamsPerConnection: 7,
        watchesPerUser: 8,
        listObjects: 9,
      },
      kubeconfig: 'k',
      controllers: ['a', 'b'],
      nodes: 3,
      token: 't',
      clientCa: 'c',
      admissionPlugins: ['A', 'B'],
      verbose: true,
    })
    expect(options('--memory').backend).toEqual({ kind: 'memory' })
    expect(options('--data d').backend).toEqual({ kind: 'durable', folder: 'd' })
  })

  it.each([
    ['--port x', '--port must be a number from 0 to 65535, not "x"'],
    ['--port 65536', '--port must be a number from 0 to 65535, not "65536"'],
    ['--memory --data d', '--data and --memory exclude each other: give one of them'],
    ['--memory --etcd http://a', '--memory and --etcd exclude each other: give one of them'],
    ['--etcd localhost:2379', '--etcd must be URLs such as http://127.0.0.1:2379, not "localhost:2379"'],
    ['--data=', '--data must be the name of a folder, not ""'],
    ['--token=', '--token must be printable ASCII without blanks'],
    ['--controllers a,,b', '--controllers must be all, none or a list of names, not "a,,b"'],
    ['--enable-admission-plugins A,', '--enable-admission-plugins must be a list of names, not "A,"'],
    ['--history-mib 0', '--history-mib must be a number from 1 to 65536, not "0"'],
    ['--max-body-mib 65', '--max-body-mib must be a number from 1 to 64, not "65"'],
    ['--max-body-depth 2001', '--max-body-depth must be a number from 20 to 2000, not "2001"'],
    ['--nodes 10001', '--nodes must be a number from 0 to 10000, not "10001"'],
  ])('refuses %s', (args, message) => {
    expect(() => options(args)).toThrow(new UsageError(message))
  })
})
