import { parseFlags } from '@kubewright/base'
import { describe, expect, test } from 'vitest'
import { upFlags } from '../up/up-command.ts'
import { upArguments } from './api-server-arguments.ts'

const parsed = (args: string, controllers?: string) => {
  const { args: up, ignored } = upArguments('1.36.4', args.split(' '), controllers)
  return { ...parseFlags(upFlags, up).values, ignored }
}

describe('upArguments()', () => {
  test('keeps the flags that up has, in every form of Go, and reports the others', () => {
    expect(
      parsed(
        '--secure-port 7443 -bind-address=127.0.0.1 --allow-privileged --authorization-mode RBAC --v=2 --logtostderr --etcd-servers=http://127.0.0.1:1 --service-account-key-file a --service-account-key-file b',
      ),
    ).toMatchObject({
      memory: true,
      kubernetes: '1.36.4',
      'secure-port': 7443,
      'bind-address': '127.0.0.1',
      'allow-privileged': true,
      'authorization-mode': ['RBAC'],
      'service-account-key-file': ['a', 'b'],
      'etcd-servers': undefined,
      ignored: ['--v', '--logtostderr'],
    })
  })

  test('issues tokens as the first of several issuers', () => {
    const issuers = '--service-account-issuer https://localhost --service-account-issuer other'
    expect(parsed(issuers)['service-account-issuer']).toBe('https://localhost')
  })

  test('publishes no loopback address', () => {
    expect(parsed('--advertise-address=127.0.0.1')).toMatchObject({
      'advertise-address': undefined,
      ignored: ['--advertise-address'],
    })
    expect(parsed('--advertise-address=192.0.2.1')).toMatchObject({ 'advertise-address': '192.0.2.1', ignored: [] })
  })

  test('runs the controllers that the words stand for, and none by default', () => {
    expect(parsed('').controllers).toBe('none')
    expect(parsed('', ' ').controllers).toBe('none')
    expect(parsed('', 'all').controllers).toBe('all')
    expect(parsed('', 'gc, namespace,serviceaccount-controller').controllers).toEqual([
      'garbage-collector-controller',
      'namespace-controller',
      'serviceaccount-controller',
    ])
    expect(parsed('', 'workloads').controllers).toContain('deployment-controller')
  })
})
