import { describe, expect, test } from 'vitest'
import { checkOwnFlags, isHelpRequest, readOwnFlags, readSettings, runHelp } from './run-flags.ts'

describe('readSettings()', () => {
  test('has the defaults of kubebuilder', () => {
    expect(readSettings([], {})).toEqual({
      kubeconfig: undefined,
      leaderElect: undefined,
      lease: {},
      requests: undefined,
      metrics: { address: undefined, secure: true, certificate: undefined },
      probes: { host: '', port: 8081 },
      debug: undefined,
      webhooks: { enabled: true, port: 9443, certificate: undefined, url: undefined },
      http2: false,
      log: { level: 0, format: undefined, stackTraces: true },
      gracefulTimeout: 30_000,
      namespaces: undefined,
      podName: undefined,
      podNamespace: undefined,
    })
  })

  test("parses the arguments of kubebuilder's manifests", () => {
    const args = [
      '--metrics-bind-address=:8443',
      '--leader-elect',
      '--health-probe-bind-address=:8082',
      '--webhook-cert-path=/tmp/k8s-webhook-server/serving-certs',
      '-webhook-port',
      '9444',
      '--metrics-cert-path',
      '/certs',
      '--metrics-cert-key=key.pem',
      '--enable-http2=true',
      '--zap-log-level=3',
      '--zap-encoder=console',
      '--zap-stacktrace-level=panic',
      '--zap-time-encoding=epoch',
      '--kubeconfig=',
    ]
    expect(readSettings(args, {})).toMatchObject({
      kubeconfig: undefined,
      leaderElect: true,
      metrics: {
        address: { host: '', port: 8443 },
        secure: true,
        certificate: { dir: '/certs', certName: 'tls.crt', keyName: 'key.pem' },
      },
      probes: { port: 8082 },
      webhooks: { port: 9444, certificate: { dir: '/tmp/k8s-webhook-server/serving-certs', keyName: 'tls.key' } },
      http2: true,
      log: { level: 3, format: 'pretty', stackTraces: false },
    })
  })

  test('reads the Lease and the request rate', () => {
    const lease = ['--leader-elect-lease-duration=60s', '--leader-elect-renew-deadline=40s', '--leader-election-id=x']
    const place = ['--leader-elect-retry-period=5s', '--leader-elect-resource-namespace=system']
    expect(readSettings([...lease, ...place, '--kube-api-qps=20', '--kube-api-burst=30'], {})).toMatchObject({
      lease: { leaseDuration: 60_000, renewDeadline: 40_000, retryPeriod: 5000, leaseName: 'x', namespace: 'system' },
      requests: { qps: 20, burst: 30 },
    })
    expect(readSettings(['--kube-api-qps=0.5'], {}).requests).toEqual({ qps: 0.5, burst: 1 })
  })

  test('uses --zap-devel as a default for level and format', () => {
    expect(readSettings(['--zap-devel'], {}).log).toMatchObject({ level: 1, format: 'pretty' })
    expect(readSettings(['--zap-devel', '--log-level=error', '--log-format=json'], {}).log).toMatchObject({
      level: 'error',
      format: 'json',
    })
  })

  test('reads the environment', () => {
    const env = { WATCH_NAMESPACE: 'a, b,', ENABLE_WEBHOOKS: 'false', POD_NAME: 'p', POD_NAMESPACE: 'system' }
    expect(readSettings([], env)).toMatchObject({
      namespaces: ['a', 'b'],
      webhooks: { enabled: false },
      podName: 'p',
      podNamespace: 'system',
    })
    expect(readSettings([], { WATCH_NAMESPACE: '' }).namespaces).toEqual([])
  })

  test.each([
    [['--leader-elec'], 'unknown flag --leader-elec: did you mean --leader-elect?'],
    [['--zap-loglevel=1'], 'unknown flag --zap-loglevel: did you mean --zap-log-level?'],
    [['--nonsense'], 'unknown flag --nonsense'],
    [['start'], 'unexpected argument "start": operators take flags only'],
    [['--kubeconfig'], '--kubeconfig needs a value: --kubeconfig FILE'],
    [['--leader-elect=maybe'], '--leader-elect must be true or false, not "maybe"'],
    [['--webhook-port=x'], '--webhook-port must be a number from 0 to 65535, not "x"'],
    [
      ['--metrics-bind-address=8080'],
      '--metrics-bind-address: "8080" is not a bind address: use HOST:PORT or :PORT, or 0 to disable the server',
    ],
    [['--zap-encoder=xml'], '--zap-encoder must be json, pretty or console, not "xml"'],
    [
      ['--log-level=loud'],
      '--log-level: "loud" is not a log level: use error, info, debug or a verbosity from 0 to 999',
    ],
    [['--kube-api-qps=0'], '--kube-api-qps must be a number greater than 0, not "0"'],
    [['--kube-api-burst=5'], '--kube-api-burst has no effect without --kube-api-qps: set both'],
    [['--webhook-url=http://a'], '--webhook-url must be an https:// URL, not "http://a"'],
  ])('rejects %j', (args, message) => {
    expect(() => readSettings(args, {})).toThrow(expect.objectContaining({ code: 'KW_USAGE', message }))
  })

  test('rejects an invalid environment variable', () => {
    expect(() => readSettings([], { ENABLE_WEBHOOKS: 'no' })).toThrow(
      'the environment variable ENABLE_WEBHOOKS must be true or false, not "no"',
    )
  })
})

describe('readOwnFlags()', () => {
  const own = { region: { value: 'NAME', default: 'eu', help: 'Use this region' }, fast: { help: 'Be fast' } } as const

  test('returns the own flags, beside those of every operator', () => {
    const args = ['--leader-elect', '--region=us', '--fast']
    expect([readOwnFlags(own, args), readOwnFlags(own, [])]).toEqual([
      { region: 'us', fast: true },
      { region: 'eu', fast: undefined },
    ])
    expect(readSettings(args, {}, own).leaderElect).toBe(true)
    expect(() => readSettings(args, {})).toThrow('unknown flag --region')
  })

  test('lists own flags in the help, and refuses names that every operator has', () => {
    expect(runHelp({ name: 'o' }, own)).toMatch(/Flags of this operator\n {2}--region NAME +Use this region/)
    expect(() => checkOwnFlags({ 'leader-election-id': { help: '' } })).toThrow('--leader-election-id exists')
  })
})

describe('runHelp()', () => {
  test('fits into 80 columns and lists every flag once', () => {
    const help = runHelp({ name: 'home-operator' })
    expect(Math.max(...help.split('\n').map((line) => line.length))).toBeLessThanOrEqual(80)
    const names = [...help.matchAll(/^ {2}(--[a-z0-9-]+)/gm)].map(([, name]) => name)
    expect(names.length).toBeGreaterThan(15)
    expect(new Set(names).size).toBe(names.length)
    expect(help).toContain('Usage: home-operator [FLAGS]')
  })

  test('is requested by --help, -help, -h and help', () => {
    expect([['--help'], ['-h'], ['help'], ['--leader-elect', '-help'], []].map((args) => isHelpRequest(args))).toEqual([
      true,
      true,
      true,
      true,
      false,
    ])
  })
})
