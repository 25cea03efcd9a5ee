import { parseFlags } from '@kubewright/base'
import { describe, expect, it } from 'vitest'
import { type PlaneOptions, planeOptions, withEtcdFlags } from './plane-options.ts'
import { upFlags } from './up-command.ts'

function optionsOf(...args: string[]): PlaneOptions {
  const { values } = parseFlags(upFlags, args)
  return withEtcdFlags(planeOptions(values, { kind: 'durable', folder: 'data' }), values)
}

describe('withEtcdFlags()', () => {
  it('accepts the flags of kube-apiserver', () => {
    const files = ['--etcd-cafile=ca', '--etcd-certfile=cert', '--etcd-keyfile=key']
    const more = ['--etcd-prefix=/registry', '--etcd-compaction-interval=1m', '--shutdown-delay-duration=5s']
    const { backend, shutdownDelay } = optionsOf('--etcd-servers=https://a:1,https://b:2', ...files, ...more)
    expect(backend).toEqual({
      kind: 'etcd',
      endpoints: ['https://a:1', 'https://b:2'],
      caFile: 'ca',
      certFile: 'cert',
      keyFile: 'key',
      prefix: '/registry',
      compaction: '1m',
    })
    expect(shutdownDelay).toBe('5s')
  })

  it('leaves other backends unchanged', () => {
    expect(optionsOf().backend).toEqual({ kind: 'durable', folder: 'data' })
    expect(optionsOf('--memory').backend).toEqual({ kind: 'memory' })
  })

  it.each([
    [['--etcd=http://a:1', '--etcd-servers=http://b:1'], '--etcd and --etcd-servers exclude each other'],
    [['--memory', '--etcd-servers=http://b:1'], '--memory and --etcd-servers exclude each other'],
    [['--etcd=http://a:1', '--etcd-certfile=c'], '--etcd-certfile and --etcd-keyfile must be given together'],
    [['--etcd-cafile=c'], 'The certificates of etcd have no effect without --etcd'],
    [['--etcd-servers=a:1'], '--etcd-servers must be URLs such as http://127.0.0.1:2379, not "a:1"'],
    [['--etcd=http://a:1', '--etcd-prefix=x'], '--etcd-prefix must be a path such as /kubewright'],
    [
      ['--etcd-compaction-interval=soon'],
      '--etcd-compaction-interval must be a duration such as 5m or 30s, not "soon"',
    ],
  ])('rejects %j', (args, message) => {
    expect(() => optionsOf(...args)).toThrow(message)
  })
})
