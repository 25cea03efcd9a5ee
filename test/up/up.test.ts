// `kubewright up` as a black box: its contract with scripts and users.
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { CertificateAuthority, ServiceAccountKeys } from '@kubewright/server'
import { describe, expect, test } from 'vitest'
import { freePort } from '../../packages/storage/src/testdata/free-port.ts'
import { configMap, deployment, Requests } from './requests.ts'
import { TemporaryFolder, UpProcess } from './up-process.ts'

const maps = '/api/v1/namespaces/default/configmaps'

describe('kubewright up', () => {
  test.each(['SIGINT', 'SIGTERM'] as const)(
    'prints when it is ready and how to use it, and stops on %s',
    async (signal) => {
      using folder = new TemporaryFolder()
      await using up = await UpProcess.start(['--memory'], folder.path)
      expect(up.out).toHaveLength(1)
      expect(up.out[0]).toMatch(
        /^ready https:\/\/127\.0\.0\.1:\d+ kubeconfig=\/.*\/\.kubewright\/kubeconfig in \d+ ms$/,
      )
      expect(statSync(up.kubeconfig).mode & 0o777).toBe(0o600)
      using requests = new Requests(up.kubeconfig)
      expect((await requests.send('GET', '/readyz')).text).toBe('ok')
      expect(await up.stop(signal)).toBe(0)
      expect(up.out).toHaveLength(1)
      expect(up.notes.join('\n')).toContain(`export KUBECONFIG=${up.kubeconfig}`)
      expect(up.notes.at(-1)).toMatch(/^Stopped after \d+s: 1 request answered, \d+ objects discarded$/)
    },
  )

  test('accepts a token and a further client CA', async () => {
    using folder = new TemporaryFolder()
    const ca = CertificateAuthority.create({ commonName: 'other', now: Date.now() })
    const file = join(folder.path, 'other.crt')
    writeFileSync(file, ca.cert)
    await using up = await UpProcess.start(['--memory', '--token', 'secret', '--client-ca', file], folder.path)
    using anonymous = new Requests(up.kubeconfig, { cert: '', key: '' })
    expect((await anonymous.send('GET', maps)).status).toBe(403)
    expect((await anonymous.send('GET', maps, undefined, { authorization: 'Bearer wrong' })).status).toBe(401)
    expect((await anonymous.send('GET', maps, undefined, { authorization: 'Bearer secret' })).status).toBe(200)
    const jane = new CertificateAuthority(ca).issueClient({ commonName: 'jane', now: Date.now() })
    using other = new Requests(up.kubeconfig, jane)
    expect((await other.send('GET', maps)).body.message).toContain('User "jane" cannot list resource "configmaps"')
  })

  test('serves with the certificates and keys of --cert-dir, --client-ca-file and --service-account-*', async () => {
    using folder = new TemporaryFolder()
    const now = Date.now()
    const ca = CertificateAuthority.create({ commonName: 'other', now })
    const authority = new CertificateAuthority(ca)
    const serving = authority.issueServing({ hosts: ['127.0.0.1'], now })
    const key = ServiceAccountKeys.generate()
    const files = {
      'apiserver.crt': serving.cert + ca.cert,
      'apiserver.key': serving.key,
      'ca.crt': ca.cert,
      'sa.key': key,
    }
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder.path, name), text)
    const flags = `--memory --cert-dir . --client-ca-file ca.crt --service-account-signing-key-file sa.key
      --service-account-key-file sa.key --service-account-issuer https://issuer.example`
    await using up = await UpProcess.start(flags.split(/\s+/), folder.path)
    // Its kubeconfig trusts the chain of the folder.
    using admin = new Requests(up.kubeconfig)
    const accounts = '/api/v1/namespaces/default/serviceaccounts'
    await admin.send('POST', accounts, { metadata: { name: 'robot' } })
    const { body } = await admin.send('POST', `${accounts}/robot/token`, {})
    const claims: unknown = JSON.parse(Buffer.from(body.status.token.split('.')[1], 'base64url').toString())
    expect(claims).toMatchObject({ iss: 'https://issuer.example', aud: ['https://issuer.example'] })
    expect(new ServiceAccountKeys([key]).verify(body.status.token)).toMatchObject({ claims })
    const jane = authority.issueClient({ commonName: 'jane', now })
    using client = new Requests(up.kubeconfig, { ...jane, ca: ca.cert })
    expect((await client.send('GET', maps)).body.message).toContain('User "jane" cannot list')
  })

  test('keeps objects, certificates and tokens across a restart', async () => {
    using folder = new TemporaryFolder()
    const flags = ['--port', String(await freePort())]
    const first = await UpProcess.start(flags, folder.path)
    // The certificate, CA and token of the first run must still be valid in the second.
    using requests = new Requests(first.kubeconfig)
    expect((await requests.send('POST', maps, configMap('kept', 'x'))).status).toBe(201)
    const accounts = '/api/v1/namespaces/default/serviceaccounts'
    await requests.send('POST', accounts, { metadata: { name: 'robot' } })
    const { body } = await requests.send('POST', `${accounts}/robot/token`, {})
    expect(await first.stop()).toBe(0)
    expect(first.notes.at(-1)).toMatch(/\d+ objects kept in \.kubewright\/data$/)
    await using _second = await UpProcess.start(flags, folder.path)
    expect((await requests.send('GET', `${maps}/kept`)).body.data).toEqual({ value: 'x' })
    using robot = new Requests(first.kubeconfig, { cert: '', key: '' })
    const whoAmI = '/apis/authentication.k8s.io/v1/selfsubjectreviews'
    const authorization = `Bearer ${body.status.token}`
    const me = await robot.send('POST', whoAmI, {}, { authorization })
    expect(me.body.status.userInfo.username).toBe('system:serviceaccount:default:robot')
  })

  test.runIf(process.platform === 'linux')('fails if the folder cannot be created (Linux only: /proc)', async () => {
    using folder = new TemporaryFolder()
    const failed = await UpProcess.fail(['--data', '/proc/kubewright'], folder.path)
    expect(failed.code).toBe(1)
    expect(failed.notes).toEqual([
      'kubewright up: cannot keep objects in /proc/kubewright because no folder can be created there (ENOENT): choose another folder with --data DIR, or keep objects in memory with --memory',
    ])
  })

  test('runs all controllers, and pods if there are nodes', async () => {
    using folder = new TemporaryFolder()
    await using up = await UpProcess.start(['--memory', '--nodes', '2'], folder.path)
    using requests = new Requests(up.kubeconfig)
    const deployments = '/apis/apps/v1/namespaces/default/deployments'
    const { body } = await requests.send('POST', deployments, deployment('web', 2))
    const watch = `${deployments}?watch=1&timeoutSeconds=30&resourceVersion=${body.metadata.resourceVersion}`
    await requests.until(watch, (object) => object.status?.availableReplicas === 2)
    expect((await requests.send('GET', '/api/v1/nodes')).body.items).toHaveLength(2)
    expect(up.notes.join('\n')).toMatch(/^Runs all \d+ controllers\n2 simulated nodes$/m)
  })

  test('runs only the controllers of --controllers', async () => {
    using folder = new TemporaryFolder()
    const policies = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies'
    const name = 'validatingadmissionpolicy-status-controller'
    await using up = await UpProcess.start(['--memory', '--controllers', name], folder.path)
    using requests = new Requests(up.kubeconfig)
    const { body } = await requests.send('POST', policies, {
      metadata: { name: 'p' },
      spec: {
        matchConstraints: {
          resourceRules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }],
        },
        validations: [{ expression: 'true' }],
      },
    })
    const watch = `${policies}?watch=1&timeoutSeconds=30&resourceVersion=${body.metadata.resourceVersion}`
    await requests.until(watch, (object) => object.status?.observedGeneration === 1)
    // The controller that creates the default service account does not run.
    expect((await requests.send('GET', '/api/v1/namespaces/default/serviceaccounts')).body.items).toEqual([])
    expect(up.notes).toContain(`Runs ${name}`)
    expect(up.notes).toContain('There are no nodes, so pods stay pending: see --nodes')
  })

  test('lists the controllers if --controllers names an unknown one', async () => {
    using folder = new TemporaryFolder()
    const { code, notes } = await UpProcess.fail(['--memory', '--controllers', 'deploymnt'], folder.path)
    expect(code).toBe(2)
    expect(notes[0]).toMatch(
      /^kubewright up: --controllers: unknown controller "deploymnt" \(did you mean "deployment-controller"\?\); known controllers are /,
    )
  })

  test('reports a port in use, a locked folder and an invalid folder in one line', async () => {
    using folder = new TemporaryFolder()
    await using _up = await UpProcess.start([], folder.path)
    const locked = await UpProcess.fail([], folder.path)
    expect(locked.code).toBe(1)
    expect(locked.notes).toEqual([
      expect.stringMatching(/^kubewright up: cannot open \.kubewright\/data\/store as process \d+ has it open: stop /),
    ])
    const blocker = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => blocker.once('listening', resolve))
    const { port } = blocker.address() as { port: number }
    const busy = await UpProcess.fail(['--memory', '--port', String(port)], folder.path)
    blocker.close()
    expect(busy).toEqual({
      code: 1,
      notes: [
        `kubewright up: port ${port} of 127.0.0.1 is in use: stop the program that uses it, or choose another port with --port (0 picks one)`,
      ],
    })
    writeFileSync(join(folder.path, 'file'), '')
    const noFolder = await UpProcess.fail(['--data', 'file/data'], folder.path)
    const problem = `cannot keep objects in ${join(folder.path, 'file/data')} because a part of the path is a file (ENOTDIR)`
    expect(noFolder.notes).toEqual([
      `kubewright up: ${problem}: choose another folder with --data DIR, or keep objects in memory with --memory`,
    ])
  })

  test('works for a user other than root, and reports folders that are not writable', async ({ skip }) => {
    if (process.getuid?.() !== 0)
      skip('needs root to start a process as another user; all other tests already run without root')
    const unprivileged = 65_534
    const { error } = spawnSync(process.execPath, ['--version'], { uid: unprivileged })
    if (error) skip(`only root can run this Node: ${error.message}`)
    using folder = new TemporaryFolder()
    const closed = join(folder.path, 'closed')
    mkdirSync(closed)
    chmodSync(closed, 0o755)
    chmodSync(folder.path, 0o755)
    const refused = await UpProcess.fail([], closed, { uid: unprivileged })
    const problem = `because there is no permission to write to it (EACCES)`
    expect(refused.notes).toEqual([
      `kubewright up: cannot keep objects in ${closed}/.kubewright/data ${problem}: choose another folder with --data DIR, or keep objects in memory with --memory`,
    ])
    const unwritten = await UpProcess.fail(['--memory', '--port', '0'], closed, { uid: unprivileged })
    expect(unwritten.notes).toEqual([
      `kubewright up: cannot write the kubeconfig to ${closed}/.kubewright/kubeconfig ${problem}: choose another file with --kubeconfig FILE`,
    ])
    chmodSync(closed, 0o777)
    await using up = await UpProcess.start([], closed, { uid: unprivileged })
    expect(await up.stop()).toBe(0)
  })
})
