import { parseFlags, UsageError } from '@kubewright/base'
import { describe, expect, test } from 'vitest'
import { type FlagConfig, planeConfig } from './plane-config.ts'
import { upFlags } from './up-command.ts'

const config = async (args: string): Promise<FlagConfig> => {
  const { values } = parseFlags(upFlags, args === '' ? [] : args.split(' '))
  return planeConfig(values, { kind: 'durable', folder: 'default' }, { env: {} })
}

describe('planeConfig()', () => {
  test('has defaults for all flags', async () => {
    expect(await config('')).toEqual({
      store: { kind: 'durable', folder: 'default' },
      history: { bytes: 64 * 1024 * 1024 },
      limits: { body: { bytes: 3 * 1024 * 1024, values: 100_000 }, watchesPerUser: 5000 },
      controllers: 'all',
      nodes: 0,
      access: { tokens: [], clientCas: [] },
      admissionPlugins: ['OwnerReferencesPermissionEnforcement'],
      disabledAdmissionPlugins: [],
      serving: { port: 6443, limits: { headerBytes: 65_535, streamsPerConnection: 100 } },
    })
  })

  test('reads every flag', async () => {
    const args =
      '--port=0 --etcd http://a:1,http://b:2 --kubeconfig k --controllers a,b --token t --nodes 3 -v ' +
      '--enable-admission-plugins OwnerReferencesPermissionEnforcement,PodSecurity --history-mib 2 --max-body-mib 1 ' +
      '--max-body-values 2000 --max-body-depth 100 --max-header-kib 16 --max-streams 7 --max-watches-per-user 8 --max-list-objects 9'
    expect(await config(args)).toEqual({
      store: { kind: 'etcd', endpoints: ['http://a:1', 'http://b:2'], keyPrefix: '/kubewright', compaction: '5m' },
      history: { bytes: 2 * 1024 * 1024 },
      limits: {
        body: { bytes: 1024 * 1024, values: 2000, depth: 100 },
        watchesPerUser: 8,
        list: { objects: 9 },
      },
      controllers: ['a', 'b'],
      nodes: { nodes: 3, heartbeat: '10s' },
      access: {
        tokens: [{ token: 't', user: { name: 'kubernetes-admin', groups: ['system:masters'] } }],
        clientCas: [],
      },
      admissionPlugins: ['OwnerReferencesPermissionEnforcement'],
      disabledAdmissionPlugins: [],
      serving: { port: 0, limits: { headerBytes: 16_383, streamsPerConnection: 7 } },
    })
    expect((await config('--memory')).store).toEqual({ kind: 'memory' })
    expect((await config('--data d')).store).toEqual({ kind: 'durable', folder: 'd' })
  })

  test.each([
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
  ])('refuses %s', async (args, message) => {
    await expect(config(args)).rejects.toThrow(new UsageError(message))
  })
})
