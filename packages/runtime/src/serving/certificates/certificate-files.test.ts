import { type MetricSink, memoryLogger, VirtualClock } from '@kubewright/base'
import { CertificateAuthority } from '@kubewright/base/pki'
import { describe, expect, test } from 'vitest'
import { certificateFiles } from './certificate-files.ts'

const now = Date.UTC(2026, 0, 1)
const authority = new CertificateAuthority(CertificateAuthority.create({ commonName: 'ca', now }))
const issue = () => authority.issueServing({ now })
const first = issue()
const second = issue()

function setUp() {
  const files = new Map([
    ['/certs/tls.crt', first.cert],
    ['/certs/tls.key', first.key],
  ])
  const counts = new Map<string, number>()
  const metrics: MetricSink = {
    add: (name, _, amount) => void counts.set(name, (counts.get(name) ?? 0) + amount),
    set: () => undefined,
    observe: () => undefined,
  }
  const clock = new VirtualClock({ start: now })
  const log = memoryLogger()
  const readFile = async (path: string): Promise<string> => {
    const text = files.get(path)
    if (text === undefined) throw new Error(`ENOENT: no such file or directory, open '${path}'`)
    return text
  }
  return { files, counts, clock, log, options: { dir: '/certs', clock, log, metrics, readFile } }
}

describe('certificateFiles()', () => {
  test('uses a new pair within ten seconds, and notifies listeners once', async () => {
    const { files, clock, options } = setUp()
    const source = await certificateFiles(options)
    let changes = 0
    source.onChange(() => changes++)
    expect(source.current()).toEqual(first)
    files.set('/certs/tls.crt', second.cert)
    files.set('/certs/tls.key', second.key)
    await clock.advance(10_000)
    expect(source.current()).toEqual(second)
    await clock.advance(60_000)
    expect(changes).toBe(1)
    await source[Symbol.asyncDispose]()
  })

  test('keeps the previous pair and counts an error while files are missing or do not match', async () => {
    const { files, counts, clock, log, options } = setUp()
    const source = await certificateFiles(options)
    files.set('/certs/tls.crt', second.cert)
    await clock.advance(10_000)
    expect(source.current()).toEqual(first)
    expect(log.records.at(-1)?.error).toMatchObject({ message: 'the private key does not belong to the certificate' })
    files.delete('/certs/tls.key')
    await clock.advance(10_000)
    expect(source.current()).toEqual(first)
    files.set('/certs/tls.key', second.key)
    await clock.advance(10_000)
    expect(source.current()).toEqual(second)
    expect(Object.fromEntries(counts)).toEqual({
      certwatcher_read_certificate_total: 4,
      certwatcher_read_certificate_errors_total: 2,
    })
    await source[Symbol.asyncDispose]()
    files.set('/certs/tls.crt', first.cert)
    files.set('/certs/tls.key', first.key)
    await clock.advance(60_000)
    expect(source.current()).toEqual(second)
  })

  test('rejects with the file names and the fix when there are no files at the start', async () => {
    const { options } = setUp()
    await expect(certificateFiles({ ...options, certName: 'cert.pem' })).rejects.toMatchObject({
      code: 'KW_CERTIFICATE',
      message:
        "Cannot serve with the certificate in /certs/cert.pem and its key in /certs/tls.key: ENOENT: no such file or directory, open '/certs/cert.pem'; " +
        'mount the Secret with the certificate there, or omit the folder to have the operator manage certificates',
    })
  })
})
